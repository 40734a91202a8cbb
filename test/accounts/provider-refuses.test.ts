// An identity provider that refuses our client: the person is sent back with a reason, and the log has the provider's answer.
import { expect, it } from 'vitest'
import { cloneDatabase } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { browse, openProvider } from './identity-provider.ts'

it('a wrong OIDC_CLIENT_SECRET is told in the log by the answer of the provider, without the secret', async () => {
  const provider = await openProvider()
  const env = { ...provider.env, OIDC_CLIENT_SECRET: 'the-wrong-secret', CONSOLE_URL: 'http://console.example.com' }
  const gateway = await openGateway({ databaseUrl: await cloneDatabase(), env })
  provider.allow(`${gateway.url}/api/auth/oauth/example/callback`)
  const { location } = await browse(`${gateway.url}/api/auth/oauth/example`, [gateway.url, `http://127.0.0.1:${provider.port}`])
  expect(location).toMatch(/^http:\/\/console\.example\.com\/?\?error=invalid_code$/)
  await gateway.line(/Failed to validate authorization code/)
  const told = gateway.logs.filter((line) => line.includes('"part":"identity"')).map((line) => JSON.parse(line))
  expect(told).toMatchObject([
    { msg: 'Failed to validate authorization code', refusal: { error: 'invalid_client', status: 401 } },
  ])
  expect(gateway.logs.join()).not.toContain('the-wrong-secret')
})
