// The doctor asks Meta about each connected number, and says what it hears in words without secrets.
import { expect, it } from 'vitest'
import { doctor } from '../../src/cli/doctor.ts'
import { readConfig } from '../../src/core/config/config.ts'
import { sql } from '../kit/database.ts'
import { secretKey } from '../kit/environment.ts'
import { dataFolder } from '../promises/demo.ts'
import { openCallbackRig } from './callback-rig.ts'
import { openRig, type Rig } from './rig.ts'

/** The doctor's report on an installation. */
async function examine({ databaseUrl, standIn }: Rig, env: Record<string, string> = {}) {
  const { config, secrets } = readConfig({
    DATABASE_URL: databaseUrl,
    SECRET_KEY: secretKey,
    DATA_DIR: await dataFolder(),
    CLOUD_API_URL: standIn.url,
    ...env,
  })
  const lines: string[] = []
  const patient = { config, secrets, url: databaseUrl, secretKey: secrets.secretKey as Buffer }
  const isWell = await doctor(patient, (line) => lines.push(line))
  return { isWell, lines, said: lines.filter((line) => /^(ok|wrong) +cloud: /.test(line)) }
}

it('the doctor says of each connected number whether Meta takes its token', async () => {
  const rig = await openRig()
  const [well, restricted, refused, deaf] = [await rig.phone(), await rig.phone(), await rig.phone(), await rig.phone()]
  const words = 'the webhooks were not subscribed: Callback verification failed (2200)'
  await sql(rig.databaseUrl).query('update instances set "lastError" = $2 where id = $1', [deaf.id, words])
  await rig.api.put(`instances/${well.id}`, { name: 'Well\u001b[2J' })
  await rig.create(rig.standIn.addNumber())
  restricted.number.quality = 'RED'
  const old = refused.number.accessToken
  refused.number.accessToken = 'EAAnew'
  const { lines, said, isWell } = await examine(rig)
  expect(isWell).toBe(false)
  const numberOf = ({ number }: typeof well) => `+${number.display.replace(/\D/g, '')}`
  expect(said).toEqual([
    `ok     cloud: Well [2J (${numberOf(well)}): Meta knows the number and takes the token, quality GREEN, messaging limit TIER_250, can send AVAILABLE`,
    `wrong  cloud: Shop (${numberOf(restricted)}): Meta restricts the number: quality_rating is RED`,
    expect.stringMatching(`^wrong  cloud: Shop \\(\\${numberOf(refused)}\\): .*190`),
    expect.stringMatching(
      `^wrong  cloud: Shop \\(\\${numberOf(deaf)}\\): Meta knows the number .*; but ${words.replace(/[()]/g, '.')}$`,
    ),
  ])
  expect(lines.join()).not.toContain(old)
})

it('the doctor asks Meta where the webhooks of each business account go', async () => {
  const { rig, publicUrl, create } = await openCallbackRig()
  const { standIn } = rig
  const connected = async () => {
    const number = standIn.addNumber()
    expect(await rig.connect(await create(number))).toEqual({ status: 'connected', lastError: null })
    return number
  }
  const [ours, unsubscribed, elsewhere, byHand, silent, unsigned] = [
    await connected(),
    await connected(),
    await connected(),
    await connected(),
    await connected(),
    await connected(),
  ]
  const path = ({ businessAccountId }: typeof ours) => `${standIn.url}/${standIn.version}/${businessAccountId}/subscribed_apps`
  const ask = async (number: typeof ours, method: string, json?: object) => {
    const headers = { authorization: `Bearer ${number.accessToken}`, 'content-type': 'application/json' }
    expect((await fetch(path(number), { method, headers, ...(json && { body: JSON.stringify(json) }) })).status).toBe(200)
  }
  await ask(unsubscribed, 'DELETE')
  const stranger = await openCallbackRig()
  stranger.verified.add('another')
  await ask(elsewhere, 'POST', { override_callback_uri: `${stranger.publicUrl}/hook`, verify_token: 'another' })
  // An app without an override calls the address that was set at the app by hand.
  await ask(byHand, 'POST', {})
  standIn.addFault({ on: new RegExp(`GET ${silent.businessAccountId}/subscribed_apps`), effect: { code: 200, status: 403 } })
  unsigned.appSecret = 'changed-at-the-app'
  const { said, isWell } = await examine(rig, { PUBLIC_URL: publicUrl })
  expect(isWell).toBe(false)
  const line = (number: typeof ours) => said.find((one) => one.includes(`(+${number.display.replace(/\D/g, '')})`))
  expect(line(ours)).toMatch(/^ok .*can send AVAILABLE$/)
  expect(line(byHand)).toMatch(/^ok .*can send AVAILABLE$/)
  expect(line(unsubscribed)).toMatch(
    /^wrong .*takes the token.*; but no app is subscribed to the webhooks of its business account: connect the instance again$/,
  )
  expect(line(elsewhere)).toMatch(
    /^wrong .*; but the webhooks of its business account go to another server: connect the instance again$/,
  )
  expect(line(unsigned)).toMatch(
    /^wrong .*; but the appSecret is not that of the app that made the accessToken: Meta's webhooks are refused$/,
  )
  expect(line(silent)).toMatch(/^wrong .*; but it does not say which apps get its webhooks: .*200/)
  expect(said.join()).not.toContain(ours.accessToken)
})
