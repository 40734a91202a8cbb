// The operator's commands for instances on Meta's Cloud API: pairing says how it goes, and the list says what is wrong.
import { beforeAll, expect, it } from 'vitest'
import { command } from '../kit/command.ts'
import { type CallbackRig, openCallbackRig } from './callback-rig.ts'
import type { Rig } from './rig.ts'

let stage: CallbackRig
let rig: Rig

beforeAll(async () => {
  stage = await openCallbackRig()
  rig = stage.rig
})

const run = (...args: string[]) => command(['instance', ...args], { databaseUrl: rig.databaseUrl })
const shownAs = ({ display }: { display: string }) => `+${display.replace(/\D/g, '')}`

it('pair connects a number without a code, and says what Meta answers meanwhile', async () => {
  const number = rig.standIn.addNumber()
  const id = await stage.create(number)
  rig.standIn.addFault({ on: new RegExp(`GET ${number.id}$`), effect: { code: 131016, status: 503, details: 'Busy' } })
  const stdout = `connecting …\nnot yet: Busy (131016)\nShop is connected as ${shownAs(number)}\n`
  expect(await run('pair', '--id', id)).toEqual({ code: 0, stdout, stderr: '' })
  expect(await run('pair', '--id', id)).toMatchObject({ code: 0, stdout: `Shop is connected as ${shownAs(number)}\n` })
})

it('pair says that a number is connected without its webhooks, and the list says it too', async () => {
  const number = rig.standIn.addNumber()
  const id = await rig.create(number, { verifyToken: 'unknown-to-the-address' })
  const words = 'the webhooks were not subscribed: Callback verification failed (2200)'
  const { code, stdout } = await run('pair', '--id', id)
  expect([code, stdout]).toEqual([0, `connecting …\nShop is connected as ${shownAs(number)}\nbut ${words}\n`])
  expect((await run('list')).stdout).toContain(
    `${id}  Shop  ${rig.account.email}  cloud  ${shownAs(number)}  connected  ${words}\n`,
  )
})

it.each([
  ['whose token was refused', {}, { accessToken: 'EAAwrong' }, 'the access token was refused (190)'],
  ['without its pin', { status: 'PENDING' }, {}, 'the number is not registered: give its pin'],
])('pair fails with the reason for a number %s', async (_, given, settings, words) => {
  const id = await rig.create(rig.standIn.addNumber(given), settings)
  const expected = { code: 1, stdout: 'connecting …\n', stderr: `Shop is disconnected: ${words}\n` }
  expect(await run('pair', '--id', id)).toEqual(expected)
})
