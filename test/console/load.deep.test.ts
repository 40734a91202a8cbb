// Proves that the list of messages stays smooth and small while events pour in.
import { setTimeout as pause } from 'node:timers/promises'
import type { CDPSession, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { newPerson } from '../accounts/person.ts'
import { connectedInstance } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { startGateway } from '../kit/gateway.ts'
import { measuredAgain } from '../kit/measured.ts'
import { heapOver } from './heap.ts'
import { browserFound, visit } from './rig.ts'
import { insertMessages, move, type Sender, steps } from './traffic.ts'

async function open() {
  const databaseUrl = await cloneDatabase()
  const gateway = await startGateway({ databaseUrl })
  const person = await newPerson(gateway, databaseUrl)
  const { id: instanceId } = await connectedInstance(databaseUrl, person)
  const sender: Sender = { ...person, instanceId }
  const pool = sql(databaseUrl)
  const shown = await insertMessages(pool, sender, 50)
  return { site: { url: gateway.url, databaseUrl }, person, sender, pool, shown }
}

async function isLive(page: Page): Promise<void> {
  await page.getByRole('status', { name: 'Live' }).getByText('Live', { exact: true }).waitFor()
  await page.getByRole('table', { name: 'Messages' }).getByRole('row').nth(50).waitFor()
}

/** The longest tasks of the main thread of the page, in ms of its processor time, while `act` runs. */
async function longestTasks(cdp: CDPSession, act: () => Promise<void>): Promise<number[]> {
  const longest: { thread: string; ms: number }[] = []
  const mains = new Set<string>()
  cdp.on('Tracing.dataCollected', ({ value }) => {
    for (const event of value as unknown as TraceEvent[]) {
      const thread = `${event.pid}/${event.tid}`
      if (event.name === 'thread_name' && event.args?.name === 'CrRendererMain') mains.add(thread)
      if (event.name.endsWith('RunTask') && event.tdur) longest.push({ thread, ms: event.tdur / 1000 })
    }
  })
  const categories = ['toplevel', 'disabled-by-default-devtools.timeline', '__metadata']
  await cdp.send('Tracing.start', { traceConfig: { includedCategories: categories }, transferMode: 'ReportEvents' })
  await act()
  const done = new Promise((resolve) => cdp.once('Tracing.tracingComplete', resolve))
  await cdp.send('Tracing.end')
  await done
  return longest
    .filter(({ thread }) => mains.has(thread))
    .map(({ ms }) => ms)
    .sort((a, b) => b - a)
}

interface TraceEvent {
  name: string
  pid: number
  tid: number
  tdur?: number
  args?: { name?: string }
}

describe.runIf(browserFound)('the list of messages', () => {
  it('spends at most 50 ms on a frame during 30 s of 200 events a second', { timeout: 300_000, ...measuredAgain }, async () => {
    const { site, person, sender, pool, shown } = await open()
    await visit(site, { as: person, path: '/me/messages' }, async ({ page, context }) => {
      await isLive(page)
      const cdp = await context.newCDPSession(page)
      const tasks = await longestTasks(cdp, async () => {
        for (let tick = 0; tick < 300; tick++) {
          const due = pause(100)
          await move(pool, sender, shown.slice((tick % 2) * 20, (tick % 2) * 20 + 20), steps[Math.floor(tick / 2) % 4] ?? 'read')
          await due
        }
      })
      console.log(
        `the longest tasks took ${tasks
          .slice(0, 5)
          .map((ms) => ms.toFixed(1))
          .join(', ')} ms of processor time`,
      )
      expect(tasks.length).toBeGreaterThan(300)
      expect(tasks[0]).toBeLessThan(50)
    })
  })

  it('keeps its heap flat over 100,000 events', { timeout: 1_200_000, ...measuredAgain }, async () => {
    const { site, person, sender, pool, shown } = await open()
    await visit(site, { as: person, path: '/me/messages' }, async ({ page }) => {
      await isLive(page)
      const sizes = await heapOver(page, pool, sender, shown.at(-1) as string)
      console.log(`heap after every 20,000 events: ${sizes.map((size) => size.toFixed(1)).join(', ')} MB`)
      expect((sizes.at(-1) ?? 0) - (sizes[0] ?? 0)).toBeLessThan(10)
    })
  })
})
