// Faults that are planted into a copy of the sources, to show that the checks of the lab find them. The sources have no switch for them.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { root } from '../kit/environment.ts'

export interface PlantedFault {
  file: string
  /** Texts of the file, each of which must occur once, with the texts in their places. */
  changes: readonly [text: string, planted: string][]
}

export interface PlantedCopy extends Disposable {
  /** Has `src/main.ts`. */
  folder: string
}

/** All that a gateway reads at its start. */
const parts = ['src', 'rest-compat', 'prisma', 'package.json']

/** The file with the fault. @throws when it does not have each text exactly once. */
export function withFault({ file, changes }: PlantedFault): string {
  return changes.reduce(
    (source, [text, planted]) => {
      const found = source.split(text).length - 1
      if (found !== 1) throw new Error(`${file} has the text ${found} times in place of once: ${text}`)
      return source.replace(text, () => planted)
    },
    readFileSync(path.join(root, file), 'utf8'),
  )
}

/** Copies the program and plants the fault into the copy. @throws as {@link withFault}. */
export function plant(fault: PlantedFault): PlantedCopy {
  const source = withFault(fault)
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gateway-planted-'))
  for (const part of parts) cpSync(path.join(root, part), path.join(folder, part), { recursive: true, verbatimSymlinks: true })
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  writeFileSync(path.join(folder, fault.file), source)
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}

export const plantedFaults = {
  acknowledgedEarly: {
    file: 'src/messages/accept/accept.ts',
    changes: [
      [
        'const all = await sqlTransaction(app.pool, async (tx) => {',
        `const early = (pool, work) => new Promise((answer, refuse) => {
          sqlTransaction(pool, async (tx) => {
            answer(await work(tx))
            await tx.query('select pg_sleep(2)')
          }).catch(refuse)
        })
        const all = await early(app.pool, async (tx) => {`,
      ],
    ],
  },
  // The lease is looked at twice: before the outcomes of an endpoint count, and where they are written.
  noFence: {
    file: 'src/webhooks/settle.sql.ts',
    changes: [
      ['on d.id = s.id and d."leaseToken" = s.token and d.attempts = s.attempt', 'on d.id = s.id'],
      ['where d.id = s.id and d."leaseToken" = s.token and d.attempts = s.attempt', 'where d.id = s.id'],
    ],
  },
  skippingCursor: {
    file: 'src/events/log/place.ts',
    changes: [['return { seq, mark }', 'return { seq: seq + 1n, mark: undefined }']],
  },
  doublingRetry: {
    file: 'src/messages/dispatch/attempt.ts',
    changes: [
      [
        'end({ outcome: outcome.outcome })\n    return outcome\n',
        `end({ outcome: outcome.outcome })
        return outcome.outcome === 'unknown' ? { outcome: 'retry', error: outcome.error, afterMs: 0 } : outcome\n`,
      ],
    ],
  },
  quotaKept: {
    file: 'src/messages/dispatch/settle.ts',
    changes: [['await returnQuota(tx, [...failed, ...withdrawn])', 'await returnQuota(tx, withdrawn)']],
  },
  overtaking: {
    file: 'src/messages/dispatch/policy.ts',
    changes: [["return message.blocked ? { do: 'follow' } : { do: 'send' }", "return { do: 'send' }"]],
  },
} satisfies Record<string, PlantedFault>
