// A gateway that is killed around each send over WhatsApp Web: the next process sends what has not left, and each message leaves once.
import { expect, it } from 'vitest'
import { api } from '../kit/api.ts'
import { cloneDatabase } from '../kit/database.ts'
import { startGateway } from '../kit/gateway.ts'
import { until } from '../kit/until.ts'
import { environmentOf, openClient, openLoopback, rowsOf } from './rig.ts'

const ann = '393331234567'
const failpoints = [
  'send.after_claim',
  'send.before_provider',
  'send.after_provider_accept',
  'send.before_commit',
  'send.after_commit_before_ack',
]

it.each([
  ['it', false],
  ['another process', true],
])(
  'loses no message and shows none twice, wherever a process dies that sends what %s accepted',
  { timeout: 400_000 },
  async (_, apart) => {
    const databaseUrl = await cloneDatabase()
    const network = await openLoopback(ann)
    const env = environmentOf(network)
    const setup = await startGateway({ databaseUrl, env })
    const client = await openClient(databaseUrl, setup)
    const instanceId = await client.pair(network, '390000000095')
    await setup.stop()
    const other = apart ? await startGateway({ databaseUrl, env: { ...env, ROLES: 'http' } }) : undefined
    for (const failpoint of failpoints) {
      const doomed = await startGateway({ databaseUrl, env: { ...env, FAILPOINT: `${failpoint}=kill` } })
      let gone = false
      void doomed.exited.then(() => {
        gone = true
      })
      // It is told about messages of a connection that it has. It may die of the message before as soon as it is connected.
      if (other) await until(() => gone || network.connected.length === 1)
      // The process may die before it answers.
      await api(other ?? doomed, client.account.apiKey)
        .post('messages/send', { instanceId, to: `+${ann}`, type: 'text', text: failpoint })
        .catch(() => {})
      expect((await doomed.exited).signal).toBe('SIGKILL')
    }
    await startGateway({ databaseUrl, env })
    await until(async () => (await rowsOf(databaseUrl, `select status from messages`)).every(({ status }) => status === 'sent'), {
      timeoutMs: 120_000,
      everyMs: 100,
    })
    expect(network.arrived.map(({ message }) => message.extendedTextMessage?.text)).toEqual(failpoints)
    // A process that dies after the call has stored already that the network took the message, so it does not leave again.
    expect(network.arrived.map(({ repeats }) => repeats)).toEqual(failpoints.map(() => 0))
    expect(network.faults).toEqual([])
  },
)
