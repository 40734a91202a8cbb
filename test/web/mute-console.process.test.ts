// Signal keys reach no log: the package prints whole sessions to the console, and nothing of it is written.
import { spawn } from 'node:child_process'
import { expect, it } from 'vitest'
import { node, root } from '../kit/environment.ts'
import { watch } from '../kit/gateway.ts'

const script = `
  const { loadWhatsApp } = await import('./src/providers/web/package.ts')
  await loadWhatsApp({ config: { web: {} }, log: { warn() {} } })
  const { SessionRecord } = (await import('libsignal')).default
  const session = { indexInfo: { closed: -1, rootKey: 'SECRET' }, currentRatchet: { privKey: 'SECRET' } }
  const record = Object.create(SessionRecord.prototype)
  record.closeSession(session)
  record.openSession(session)
  record.openSession(session)
  console.info('our own line')
`

it('sessions that are opened and closed leave no trace on stdout and stderr, and other lines do', async () => {
  const child = spawn(node, ['--input-type=module', '-e', script], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const running = watch(child)
  expect(await running.exited).toMatchObject({ code: 0 })
  expect(running.logs).toEqual(['our own line'])
})
