// Proves the permissions of the routes that import and export files: for every caller of the public API, and every person of the console.
import { beforeAll, describe, expect, it } from 'vitest'
import type { ExportRoute } from '../../rest-compat/export.ts'
import type { FileRoute, Route } from '../../rest-compat/route.ts'
import { routes } from '../../rest-compat/routes.ts'
import type { ErrorCode } from '../../src/core/errors.ts'
import { addressOf } from '../rest-compat/both.ts'
import { type Caller, callers, openSite, type Site } from './callers.ts'
import { people } from './people.ts'

type File = FileRoute | ExportRoute

const files = routes.filter(
  (route): route is File => 'transfer' in route && route.transfer !== 'upload' && route.transfer !== 'download',
)
const form = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nname,phone\n\r\n--x--\r\n'
let site: Site

beforeAll(async () => {
  site = await openSite()
})

/** The error code of a valid request, or null for success. */
async function codeOf({ api, things }: Caller, { method, path }: File): Promise<ErrorCode | null> {
  const address = addressOf(path, { params: { id: things.campaigns } }).slice(1)
  const asked =
    method === 'GET' ? api.get(address) : api.post(address, form, { 'content-type': 'multipart/form-data; boundary=x' })
  const { status, body } = await asked
  if (status < 300) return null
  return body.error.code
}

/** The code that the caller gets on a row of the same scope, except where it depends on what the operation does. */
function expectedOf(route: File, name: string, expected: (row: Route) => ErrorCode | null): ErrorCode | null {
  if (name === 'no subscription') return 'errors' in route ? 'SUBSCRIPTION_INACTIVE' : null
  return name === 'a plan with nothing left' ? null : expected(route as unknown as Route)
}

it('there are two imports and three exports', () => {
  expect(files.map(({ operationId }) => operationId).sort()).toEqual([
    'exportCampaignRecipients',
    'exportContacts',
    'exportMessages',
    'importContacts',
    'importSuppressions',
  ])
})

describe.each([...callers, ...people])('%s', (name, open, expected) => {
  it('gets the decision of its kind on every import and export, and nothing of another workspace', async () => {
    const caller = await open(site)
    const codes = []
    for (const route of files) codes.push([route.path, await codeOf(caller, route)])
    expect(codes).toEqual(files.map((route) => [route.path, expectedOf(route, name, expected)]))
  })
})

it('the recipients of a campaign of another workspace are not found', async () => {
  const [one, other] = await Promise.all([callers[0]?.[1](site), callers[0]?.[1](site)])
  const route = files.find(({ operationId }) => operationId === 'exportCampaignRecipients') as File
  expect(await codeOf({ ...(one as Caller), things: (other as Caller).things }, route)).toBe('NOT_FOUND')
})
