// Requests that were admitted before their account ended, and store something after its data was deleted.
import { beforeAll, expect, it } from 'vitest'
import type { Answer } from '../kit/api.ts'
import { cloneDatabase } from '../kit/database.ts'
import { whileHeld } from '../kit/held.ts'
import { type InnerGateway, openGateway } from '../kit/open-gateway.ts'
import { expectRefusal } from '../rest-compat/rig.ts'
import { newPerson } from './person.ts'

let databaseUrl: string
let gateway: InnerGateway

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  gateway = await openGateway({ databaseUrl, env: { PERSON_RATE_LIMIT_PER_SECOND: '100000' } })
})

/** As the job that deletes the data of an account does. */
const deletion = `with k as (delete from api_keys where "workspaceId" = $1) delete from workspaces where id = $1`

it.each<[string, 'post' | 'put', object]>([
  ['contacts', 'post', { name: 'Ada', phone: '+4915112345678' }],
  ['templates', 'post', { name: 'Greeting', type: 'text', body: 'Hello' }],
  ['suppressions', 'post', { phone: '+4915112345678' }],
  ['suppression-settings', 'put', { reply: 'Bye' }],
  ['retention-settings', 'put', { messagesDays: 3 }],
])('%s (%s) is refused as without a valid token, and is no fault of the gateway', async (route, method, body) => {
  const { api, workspaceId } = await newPerson(gateway, databaseUrl)
  const [answer] = await whileHeld(databaseUrl, [deletion, workspaceId], [() => api[method](`/api/${route}`, body)])
  expectRefusal(answer as Answer, 401, 'UNAUTHORIZED', 'Missing or invalid token')
  expect(gateway.logs.filter((line) => line.includes('"level":"error"'))).toEqual([])
})
