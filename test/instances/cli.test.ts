// The operator's commands for instances, beside a gateway that runs on the same database.
import { beforeAll, expect, it } from 'vitest'
import { changeState } from '../../src/instances/state.ts'
import { command } from '../kit/command.ts'
import { sql } from '../kit/database.ts'
import { openScene, type Scene } from '../kit/scene.ts'
import { until } from '../kit/until.ts'
import { openApp } from '../messages/rig.ts'

let scene: Scene

beforeAll(async () => {
  scene = await openScene({ env: { SANDBOX_LATENCY_MS: '1000' } })
})

async function create(name: string, settings: object = {}, { client } = scene): Promise<string> {
  return (await client().post('instances', { name, provider: 'sandbox', settings })).body.data.id
}

const run = (...args: string[]) => command(['instance', ...args], { databaseUrl: scene.databaseUrl })

it('pair shows the codes of an instance and waits until it is connected', async () => {
  const id = await create('Shop\u001b[2J', { pairing: true })
  const { code, stdout, stderr } = await run('pair', '--id', id)
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toContain('pairing …\n')
  expect(stdout).toContain('pairing code: SAND-BOX1 (on the phone: Linked devices, Link with phone number)\n')
  expect(stdout).toMatch(/[█▀▄ ]{25}\n/)
  expect(stdout).toContain('scan it on the phone: Linked devices, Link a device\n')
  expect(stdout).toMatch(/Shop \[2J is connected as \+3933\d{8}\n$/)
  expect(await run('pair', '--id', id)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Shop \[2J is connected as/) })
})

it('pair says in words why an instance is not connected', async () => {
  // The sandbox connects the instance after this time of the process that starts it, which is longer than the test.
  const env = { SANDBOX_LATENCY_MS: '600000' }
  const slow = await openScene({ env })
  const id = await create('Desk', { pairing: true }, slow)
  const app = await openApp(slow.databaseUrl)
  const [result] = await Promise.all([
    command(['instance', 'pair', '--id', id], { databaseUrl: slow.databaseUrl, env }),
    until(async () => (await slow.client().get(`instances/${id}`)).body.data.status === 'pairing').then(() =>
      changeState(app, { instanceId: id, status: 'disconnected', error: 'nobody scanned the code' }),
    ),
  ])
  expect(result).toMatchObject({ code: 1, stderr: 'Desk is disconnected: nobody scanned the code\n' })
  const unknown = await run('pair', '--id', crypto.randomUUID())
  expect(unknown).toMatchObject({ code: 1, stderr: 'There is no instance with this id\n' })
  expect(await run('pair', '--id', '5')).toMatchObject({ code: 1, stderr: '--id: must be a UUID\n' })
  expect(await run('pair', '--id', id, '--phone', '5')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^--phone: must be/),
  })
})

it('list shows every instance with its owner and its state, on one line each', async () => {
  const id = await create('Two\nlines\u202e')
  const { rows } = await sql(scene.databaseUrl).query(
    'select email from users u join instances i on i."userId" = u.id where i.id = $1',
    [id],
  )
  const { code, stdout } = await run('list')
  expect([code, stdout.split('\n')]).toEqual([
    0,
    expect.arrayContaining([`${id}  Two lines  ${rows[0].email}  sandbox  -  created`]),
  ])
  const json = JSON.parse((await run('list', '--json')).stdout)
  expect(json.find((row: { id: string }) => row.id === id)).toEqual({
    ...{ id, name: 'Two\nlines\u202e', provider: 'sandbox', waNumber: null, status: 'created', lastError: null },
    ...{ createdAt: expect.any(String), owner: rows[0].email },
  })
})
