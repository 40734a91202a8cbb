// Faults that are planted into a copy of the sources, to show that the checks of the lab find them. The sources have no switch for them.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { root } from '../kit/environment.ts'

export interface PlantedFault {
  file: string
  /** A text of the file. It must occur once. */
  text: string
  /** The text in its place. */
  planted: string
}

export interface PlantedCopy extends Disposable {
  /** Has `src/main.ts`. */
  folder: string
}

/** All that a gateway reads at its start. */
const parts = ['src', 'rest-compat', 'prisma', 'package.json']

/** Copies the program and plants the fault into the copy. @throws when the file does not have the text exactly once. */
export function plant({ file, text, planted }: PlantedFault): PlantedCopy {
  const source = readFileSync(path.join(root, file), 'utf8')
  const found = source.split(text).length - 1
  if (found !== 1) throw new Error(`${file} has the text ${found} times in place of once: ${text}`)
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gateway-planted-'))
  for (const part of parts) cpSync(path.join(root, part), path.join(folder, part), { recursive: true, verbatimSymlinks: true })
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  writeFileSync(
    path.join(folder, file),
    source.replace(text, () => planted),
  )
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}

export const plantedFaults = {
  acknowledgedEarly: {
    file: 'src/messages/accept/accept.ts',
    text: 'const all = await sqlTransaction(app.pool, async (tx) => {',
    planted: `const early = (pool, work) => new Promise((answer, refuse) => {
      sqlTransaction(pool, async (tx) => {
        answer(await work(tx))
        await tx.query('select pg_sleep(2)')
      }).catch(refuse)
    })
    const all = await early(app.pool, async (tx) => {`,
  },
  noFence: {
    file: 'src/webhooks/settle.sql.ts',
    text: 'where d.id = s.id and d."leaseToken" = s.token and d.attempts = s.attempt',
    planted: 'where d.id = s.id',
  },
  skippingCursor: { file: 'src/events/log/place.ts', text: '  return seq\n', planted: '  return seq + 1n\n' },
  doublingRetry: {
    file: 'src/messages/dispatch/attempt.ts',
    text: 'end({ outcome: outcome.outcome })\n    return outcome\n',
    planted: `end({ outcome: outcome.outcome })
    return outcome.outcome === 'unknown' ? { outcome: 'retry', error: outcome.error, afterMs: 0 } : outcome\n`,
  },
  quotaKept: {
    file: 'src/messages/dispatch/fail.ts',
    text: 'await returnQuota(tx, rows)',
    planted: 'await returnQuota(tx, [])',
  },
  overtaking: {
    file: 'src/messages/dispatch/policy.ts',
    text: "return message.blocked ? { do: 'follow' } : { do: 'send' }",
    planted: "return { do: 'send' }",
  },
} satisfies Record<string, PlantedFault>
