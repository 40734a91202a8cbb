// Proves that what `gateway print` prints works: nginx serves the gateway and its streams with it, and promtool accepts the alerts.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import http2 from 'node:http2'
import os from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { createMetrics } from '../../src/core/metrics.ts'
import { createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { atEnd } from '../kit/at-end.ts'
import { command } from '../kit/command.ts'
import { cloneDatabase } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { ownPort } from '../kit/port.ts'
import { until } from '../kit/until.ts'

const folder = mkdtempSync(path.join(os.tmpdir(), 'gateway-print-'))

/** Installs a program with apt if it is missing. @throws Error that says what to do, if that is impossible. */
function need(program: string, debianPackage: string): string {
  const find = () => execFileSync('sh', ['-c', `PATH=$PATH:/usr/sbin command -v ${program}`], { encoding: 'utf8' }).trim()
  try {
    return find()
  } catch {
    try {
      execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', debianPackage], { stdio: 'ignore' })
      return find()
    } catch {
      throw new Error(`This test needs ${program}: install it with \`apt-get install ${debianPackage}\` as root`)
    }
  }
}

async function print(what: string): Promise<string> {
  const { code, stdout } = await command(['print', what])
  expect(code).toBe(0)
  return stdout
}

it('nginx takes the configuration, and passes events on HTTP/2 as they happen', async () => {
  const nginx = need('nginx', 'nginx-light')
  const databaseUrl = await cloneDatabase()
  const gateway = await openGateway({ databaseUrl, env: { TRUST_PROXY: '1', RATE_LIMIT_PER_SECOND: '1000' } })
  const { apiKey } = await createAccount(databaseUrl)
  const [pem, key] = [path.join(folder, 'gateway.pem'), path.join(folder, 'gateway.key')]
  const name = ['-subj', '/CN=gateway.example.com', '-days', '1', '-nodes', '-newkey', 'rsa:2048']
  execFileSync('openssl', ['req', '-x509', ...name, '-keyout', key, '-out', pem], { stdio: 'ignore' })
  const port = await ownPort()
  const site = (await print('nginx'))
    .replace(/127\.0\.0\.1:\d+/, new URL(gateway.url).host)
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replace('/etc/ssl/certs/gateway.pem', pem)
    .replace('/etc/ssl/private/gateway.key', key)
  const conf = path.join(folder, 'nginx.conf')
  const own = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((one) => `${one}_temp_path ${folder}/${one};`).join(' ')
  writeFileSync(conf, `pid ${folder}/pid; error_log ${folder}/error.log; events {} http { access_log off; ${own} ${site} }`)
  execFileSync(nginx, ['-t', '-c', conf], { stdio: 'pipe' })
  const server = spawn(nginx, ['-c', conf, '-g', 'daemon off;'], { stdio: 'ignore' })
  atEnd('test', async () => void server.kill())
  const session = await until(async () => {
    const trial = http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    const outcome = await new Promise<boolean>((resolve) =>
      trial.on('connect', () => resolve(true)).on('error', () => resolve(false)),
    )
    return outcome && trial
  })
  atEnd('test', async () => session.destroy())
  const path_ = '/api/v1/events/stream?types=contact.changed'
  const streams = Array.from({ length: 12 }, () =>
    session.request({ ':path': path_, 'x-api-key': apiKey, accept: 'text/event-stream' }),
  )
  const texts = streams.map(() => '')
  for (const [i, stream] of streams.entries()) {
    stream.setEncoding('utf8').on('data', (text) => {
      texts[i] += text
    })
  }
  // Every stream begins with its first cursor.
  await until(() => texts.every((text) => text.length > 0))
  await api(gateway, apiKey).post('contacts', { name: 'Ada', phone: '+393331234567' })
  await until(() => texts.every((text) => text.includes('event: contact.changed')))
})

it('promtool takes the alerts, and every name in the alerts and the dashboard is a metric', async () => {
  const promtool = need('promtool', 'prometheus')
  const alerts = await print('alerts')
  const file = path.join(folder, 'alerts.yml')
  writeFileSync(file, alerts)
  expect(execFileSync(promtool, ['check', 'rules', file], { encoding: 'utf8' })).toContain('SUCCESS')
  const dashboard = await print('grafana')
  expect(JSON.parse(dashboard).panels.length).toBeGreaterThan(10)
  const known = new Set((await createMetrics().registry.getMetricsAsJSON()).map(({ name }) => name))
  const used = `${alerts} ${dashboard}`.match(/\b(gateway|nodejs)_[a-z_0-9]+/g) ?? []
  expect([...new Set(used)].filter((name) => !known.has(name.replace(/_(bucket|count|sum)$/, '')))).toEqual([])
})

it('the systemd service starts this installation with its own Node', async () => {
  const unit = await print('systemd')
  const node = unit.match(/^ExecStart="(\S+)" src\/main\.ts$/m)?.[1] as string
  expect(execFileSync(node, ['--version'], { encoding: 'utf8' })).toMatch(/^v24\./)
  expect(unit).toMatch(/^WorkingDirectory=\/\S+$/m)
})
