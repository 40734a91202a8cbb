// The typed client of the GraphQL guide runs unchanged, survives a dropped connection, and ends when its key is revoked.
import { spawn } from 'node:child_process'
import { expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { node, root } from '../kit/environment.ts'
import { watch } from '../kit/gateway.ts'
import { openPassage } from '../kit/passage.ts'
import { until } from '../kit/until.ts'
import { openRig, text } from '../rest-compat/rig.ts'

interface Place {
  url: string
  key: string
  instance: string
}

function run({ url, key, instance }: Place) {
  const env = { PATH: process.env.PATH, URL: url, KEY: key, INSTANCE: instance }
  return watch(spawn(node, ['test/client/dashboard.ts'], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] }))
}

it('queries, sends, and follows events without gap or repeat across a dropped connection', async () => {
  const { gateway, tenant } = await openRig()
  const passage = await openPassage(Number(new URL(gateway.url).port))
  const url = `http://127.0.0.1:${passage.port}`
  const program = run({ url, key: tenant.account.apiKey, instance: tenant.instance.id })
  await program.line(/^\+4915112345678 queued$/)
  await program.line(/^\+4915112345678 message_read$/)

  const before = passage.opened()
  passage.cut()
  // The first ten messages may fall into the disconnection; the rest follow after the reconnect.
  const numbers = Array.from({ length: 20 }, (_, n) => `+49151123456${String(n + 10)}`)
  for (const to of numbers.slice(0, 10)) await tenant.api.post('messages/send', text(tenant, { to }))
  await until(() => passage.opened() > before)
  for (const to of numbers.slice(10)) await tenant.api.post('messages/send', text(tenant, { to }))
  const outcome = (to: string) => program.logs.filter((line) => line.startsWith(`${to} message_`))
  // The subscription of the graph tells the queuing, too.
  const progress = ['queued', 'sent', 'delivered', 'read']
  await until(() => numbers.every((to) => outcome(to).length >= progress.length))
  for (const to of numbers) expect(outcome(to)).toEqual(progress.map((status) => `${to} message_${status}`))
})

it.each(['while it follows', 'while it is not connected'])('ends with the reason when its key is revoked %s', async (when) => {
  const { databaseUrl, gateway, tenant } = await openRig()
  const passage = await openPassage(Number(new URL(gateway.url).port))
  const url = `http://127.0.0.1:${passage.port}`
  const program = run({ url, key: tenant.account.apiKey, instance: tenant.instance.id })
  await program.line(/^\+4915112345678 message_read$/)
  await sql(databaseUrl).query(`update api_keys set "revokedAt" = now() where "userId" = $1`, [tenant.account.userId])
  if (when === 'while it is not connected') passage.cut()
  expect((await program.exited).code).toBe(1)
  expect(program.logs.join('\n')).toMatch(/Error: Missing or invalid API key|NetworkError: .* 401/)
})
