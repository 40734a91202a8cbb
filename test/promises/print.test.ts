// Proves that the configuration of nginx that `gateway print` prints leads to the address that the gateway listens on, and that systemd stops
// the gateway as README.md says.
import { expect, it } from 'vitest'
import { printed } from '../../src/cli/print/print.ts'
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

it('systemd starts an installation whose folder has spaces and percent signs in its name', async () => {
  const service = await printed('systemd', { host: '127.0.0.1', port: 0 }, '/srv/the 100% gateway')
  expect(service).toContain('\nWorkingDirectory=/srv/the 100%% gateway\n')
  expect(service).toContain('\nExecStart="/srv/the 100%% gateway/node_modules/.bin/node" src/main.ts\n')
})
