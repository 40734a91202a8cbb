// The doctor asks Meta about each connected number, and says what it hears in words without secrets.
import { expect, it } from 'vitest'
import { doctor } from '../../src/cli/doctor.ts'
import { readConfig } from '../../src/core/config/config.ts'
import { sql } from '../kit/database.ts'
import { secretKey } from '../kit/environment.ts'
import { dataFolder } from '../promises/demo.ts'
import { openRig } from './rig.ts'

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
  const { config, secrets } = readConfig({
    DATABASE_URL: rig.databaseUrl,
    SECRET_KEY: secretKey,
    DATA_DIR: await dataFolder(),
    CLOUD_API_URL: rig.standIn.url,
  })
  const lines: string[] = []
  const patient = { config, secrets, url: rig.databaseUrl, secretKey: secrets.secretKey as Buffer }
  expect(await doctor(patient, (line) => lines.push(line))).toBe(false)
  const said = lines.filter((line) => /^(ok|wrong) +cloud: /.test(line))
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
