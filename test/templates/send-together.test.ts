// Many messages rendered from templates at once: each is judged alone, and an invalid one does not affect the others.
import { beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { expectRefusal, newNumber, nobody, type Rig, type Tenant } from '../rest-compat/rig.ts'
import { asleepOf, contact, inAnHour, made, openSender, template } from './rig.ts'

let rig: Rig
let asleep: Tenant

beforeAll(async () => {
  ;({ rig, asleep } = await openSender())
})

describe('messages sent together', () => {
  it('in a bulk are judged each alone', async () => {
    const id = await template(asleep, 'Hi {{contact.firstName}} {{custom.a}}')
    const { id: contactId, phone } = await contact(asleep, { custom: { a: '1' } })
    const plain = { instanceId: asleep.instance.id, to: newNumber(), type: 'text', text: 'Hello' }
    const messages = [
      made(asleep, id, { contactId }),
      made(asleep, id),
      made(asleep, nobody),
      plain,
      made(asleep, id, { to: phone, variables: { a: '2' }, scheduledAt: inAnHour() }),
      made(asleep, id, { contactId, variables: { a: '\0' } }),
      { ...plain, templateId: id },
    ]
    const { data } = (await asleep.api.post('messages/bulk', { messages })).body
    expect(data.rejected).toEqual([
      { index: 1, code: 'TEMPLATE_INVALID', message: 'contact.firstName, custom.a: have no value' },
      { index: 2, code: 'NOT_FOUND', message: 'Template not found' },
      { index: 5, code: 'VALIDATION_ERROR', message: 'variables.a: must not contain NUL or unpaired surrogates' },
      { index: 6, code: 'VALIDATION_ERROR', message: 'templateId: cannot be given together with type' },
    ])
    const bodies = data.accepted.map(async ({ index, id }: { index: number; id: string }) => [
      index,
      (await asleep.api.get(`messages/${id}`)).body.data.body,
    ])
    expect(await Promise.all(bodies)).toEqual([
      [0, 'Hi Ada 1'],
      [3, 'Hello'],
      [4, 'Hi Ada 2'],
    ])
  })

  it('in concurrent requests of two workspaces are judged each alone', async () => {
    const foreign = await asleepOf(rig, rig.stranger)
    const ids = [await template(asleep, 'ours {{custom.a}}'), await template(foreign, 'theirs {{contact.name}}')] as const
    const { phone } = await contact(asleep, { name: 'Ours' })
    await contact(foreign, { name: 'Theirs', phone })
    const body = (i: number) => {
      const common = { to: phone, variables: i % 4 === 0 ? {} : { a: `${i}` } }
      return i % 2 === 0
        ? { ...common, instanceId: asleep.instance.id, templateId: ids[0] }
        : { ...common, instanceId: foreign.instance.id, templateId: ids[1] }
    }
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? asleep : foreign).api.post('messages/send', body(i))),
    )
    for (const [i, answer] of answers.entries()) {
      if (i % 4 === 0) expectRefusal(answer, 400, 'TEMPLATE_INVALID', 'custom.a: has no value')
      else expect(answer.body.data.body).toBe(i % 2 === 0 ? `ours ${i}` : 'theirs Theirs')
    }
  })

  it('in a bulk are accepted although the contact of another one is deleted concurrently', async () => {
    const { id: contactId } = await contact(asleep)
    const id = await template(asleep, 'Hi {{contact.name}}')
    const client = await sql(rig.databaseUrl).connect()
    try {
      await client.query('begin')
      await client.query('delete from contacts where id = $1', [contactId])
      const pending = asleep.api.post('messages/bulk', {
        messages: [made(asleep, id, { contactId }), made(asleep, await template(asleep, 'plain'))],
      })
      const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%from contacts%'`
      await until(async () => (await sql(rig.databaseUrl).query(waiting)).rows.length > 0)
      await client.query('commit')
      const { data } = (await pending).body
      expect(data.rejected).toEqual([{ index: 0, code: 'NOT_FOUND', message: 'Contact not found' }])
      expect(data.accepted).toHaveLength(1)
    } finally {
      client.release()
    }
  })
})
