// Proves that the configuration of nginx that `gateway print` prints leads to the address that the gateway listens on, and that systemd stops
// the gateway as README.md says.
import { expect, it } from 'vitest'
import { command } from '../kit/command.ts'
import { cloneDatabase } from '../kit/database.ts'
import { hasIpv6 } from '../kit/ipv6.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { ownPort } from '../kit/port.ts'

it.each(['127.0.0.1', '0.0.0.0', ...(hasIpv6 ? ['::1'] : [])])('nginx reaches a gateway that listens on %s', async (host) => {
  const env = { HOST: host, PORT: String(await ownPort()) }
  await openGateway({ databaseUrl: await cloneDatabase(), env })
  const { stdout } = await command(['print', 'nginx'], { env })
  const [, upstream] = stdout.match(/^ {4}server (\S+);$/m) ?? []
  expect((await fetch(`http://${upstream}/livez`)).status).toBe(200)
})

it('systemd sends its stop signal to the gateway alone, because running requests need the embedded database until they end', async () => {
  const { stdout } = await command(['print', 'systemd'])
  expect(stdout).toMatch(/^KillMode=mixed$/m)
})
