// Group commit of accepted messages: concurrent bulks, and single messages beside them.
import { expect, it } from 'vitest'
import { sendMessage, sendMessages } from '../../src/messages/service.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openWorkspace } from './rig.ts'

it('commits one bulk or many single messages at a time, so that no transaction grows with the number of bulks', async () => {
  const databaseUrl = await cloneDatabase()
  const { ctx, instanceId } = await openWorkspace(databaseUrl)
  const message = (text: string) => ({ instanceId, to: '+393331234567', type: 'text', text })
  const bulks = Array.from({ length: 5 }, () => sendMessages(ctx, Array(200).fill(message('bulk'))))
  const singles = Array.from({ length: 20 }, () => sendMessage(ctx, message('single')))
  for (const { rejected } of await Promise.all(bulks)) expect(rejected).toEqual([])
  await Promise.all(singles)
  const { rows } = await sql(databaseUrl).query(
    'select min(body) as body, count(*)::int as count from messages group by xmin order by 1, 2',
  )
  expect(rows).toEqual([...Array(5).fill({ body: 'bulk', count: 200 }), { body: 'single', count: 20 }])
})
