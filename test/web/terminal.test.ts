// From nothing to a delivered message as README says it: an instance without settings, a code in the terminal, and a message.
import { expect, it } from 'vitest'
import { command } from '../kit/command.ts'
import { cloneDatabase } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { environmentOf, openClient, openLoopback } from './rig.ts'

const ann = '393331234567'

it('pairs by a picture or a code that the terminal shows, sends, and the doctor says that it is connected', async () => {
  const databaseUrl = await cloneDatabase()
  const network = await openLoopback(ann)
  network.delivers = true
  const env = environmentOf(network)
  const { api, state } = await openClient(databaseUrl, await openGateway({ databaseUrl, env }))
  const create = async (name: string) => (await api.post('instances', { name, provider: 'web' })).body.data.id as string
  let printed = ''
  const onPrint = (text: string) => {
    printed += text
  }
  const pair = (id: string, ...more: string[]) =>
    command(['instance', 'pair', '--id', id, ...more], { databaseUrl, env, onPrint })

  const id = await create('Shop')
  const [seen] = await Promise.all([
    pair(id),
    until(async () => printed.includes('scan it on the phone') && (await state(id)).qr).then((qr) =>
      network.scan(qr, '390000000064'),
    ),
  ])
  expect([seen.code, seen.stderr]).toEqual([0, ''])
  expect(seen.stdout).toMatch(
    /\nscan it on the phone: Linked devices, Link a device\n[\s\S]*Shop is connected as \+390000000064\n$/,
  )
  const picture = seen.stdout.split('\n').filter((line) => /^[█▀▄ ]{20,}$/.test(line))
  // It fits into a terminal as it opens.
  expect(Math.max(...picture.map((line) => line.length))).toBeLessThan(80)

  const byCode = await create('Desk')
  const [read] = await Promise.all([
    pair(byCode, '--phone', '+390000000065'),
    until(async () => printed.includes('pairing code') && (await state(byCode)).pairingCode).then((code) =>
      network.enter(code, '390000000065'),
    ),
  ])
  expect(read.code).toBe(0)
  expect(read.stdout).toMatch(/pairing code: [A-Z0-9]{4}-[A-Z0-9]{4} .*\n[\s\S]*Desk is connected as \+390000000065\n$/)

  const sent = await api.post('messages/send', { instanceId: id, to: `+${ann}`, type: 'text', text: 'Ciao' })
  await until(async () => (await api.get(`messages/${sent.body.data.id}`)).body.data.status === 'delivered')
  const { stdout } = await command(['doctor'], { databaseUrl, env })
  for (const shown of ['Shop (+390000000064)', 'Desk (+390000000065)'])
    expect(stdout).toContain(`web: ${shown}: connected; a process of the gateway holds its connection`)
})
