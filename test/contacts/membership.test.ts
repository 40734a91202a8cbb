// Concurrent changes of whole sets of group members: every count stays right, and no transactions deadlock.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { addMembers, deleteContacts, removeMembers } from '../../src/contacts/groups/membership.ts'
import type { App } from '../../src/core/app.ts'
import type { Sql } from '../../src/core/database/database.ts'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { newId } from '../../src/core/id.ts'
import { openRelay } from '../events/rig.ts'
import { seeded } from '../faults/rig.ts'
import { createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { expectInvariants } from '../kit/invariants.ts'
import { openApp } from '../messages/rig.ts'
import { addContacts, addGroup, membersOf } from './bulk-rig.ts'

let databaseUrl: string
let app: App
let workspaceId: string

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  app = await openApp(databaseUrl)
  // Deletions of contacts are events, which come to rest when a relay numbers them.
  await openRelay(app)
})

beforeEach(async () => {
  ;({ workspaceId } = await createAccount(databaseUrl))
})

/** Tried once, without a retry, so that a deadlock fails the test. */
function inOne<T>(work: (tx: Sql) => Promise<T>): Promise<T> {
  return sqlTransaction(sql(databaseUrl), work, 1)
}

const add = (groupId: string, ids: readonly string[]) => inOne((tx) => addMembers(tx, workspaceId, groupId, ids))
const remove = (groupId: string, ids: readonly string[]) => inOne((tx) => removeMembers(tx, workspaceId, groupId, ids))
const destroy = (ids: readonly string[]) => inOne((tx) => deleteContacts(app, tx, workspaceId, ids))

describe('a set of contacts', () => {
  it('joins and leaves a group, with an exact count of each outcome', async () => {
    const ids = await addContacts(databaseUrl, workspaceId, 10)
    const groupId = await addGroup(databaseUrl, workspaceId, ids.slice(0, 3))
    expect(await add(groupId, [...ids, newId()])).toEqual({ added: 7, alreadyInGroup: 3, notFound: 1 })
    expect(await membersOf(databaseUrl, groupId)).toEqual({ rows: 10, counter: 10 })
    expect(await remove(groupId, [...ids.slice(0, 4), newId()])).toEqual({ removed: 4, notFound: 1 })
    expect(await membersOf(databaseUrl, groupId)).toEqual({ rows: 6, counter: 6 })
  })

  it('is removed from its groups when it is deleted, and leaves other accounts untouched', async () => {
    const ids = await addContacts(databaseUrl, workspaceId, 6)
    const groups = [await addGroup(databaseUrl, workspaceId, ids), await addGroup(databaseUrl, workspaceId, ids.slice(0, 2))]
    const other = await createAccount(databaseUrl)
    const [foreign] = (await addContacts(databaseUrl, other.workspaceId, 1)) as [string]
    const foreignGroup = await addGroup(databaseUrl, other.workspaceId, [foreign])
    expect((await destroy([...ids.slice(0, 3), foreign, newId()])).sort()).toEqual(ids.slice(0, 3))
    expect(await membersOf(databaseUrl, groups[0] as string)).toEqual({ rows: 3, counter: 3 })
    expect(await membersOf(databaseUrl, groups[1] as string)).toEqual({ rows: 0, counter: 0 })
    expect(await membersOf(databaseUrl, foreignGroup)).toEqual({ rows: 1, counter: 1 })
  })

  it('of another account, or a group of another account, is not found', async () => {
    const other = await createAccount(databaseUrl)
    const foreign = await addContacts(databaseUrl, other.workspaceId, 2)
    const groupId = await addGroup(databaseUrl, workspaceId)
    const foreignGroup = await addGroup(databaseUrl, other.workspaceId, foreign)
    expect(await add(groupId, foreign)).toEqual({ added: 0, alreadyInGroup: 0, notFound: 2 })
    for (const act of [() => add(foreignGroup, foreign), () => remove(foreignGroup, foreign)]) {
      await expect(act()).rejects.toMatchObject({ extensions: { code: 'NOT_FOUND' } })
    }
    expect(await membersOf(databaseUrl, foreignGroup)).toEqual({ rows: 2, counter: 2 })
  })

  it('does not touch a group when nothing changes', async () => {
    const ids = await addContacts(databaseUrl, workspaceId, 2)
    const groupId = await addGroup(databaseUrl, workspaceId, ids)
    const version = async () =>
      (await sql(databaseUrl).query('select xmin, "updatedAt" from contact_groups where id = $1', [groupId])).rows[0]
    const before = await version()
    await add(groupId, ids)
    await remove(groupId, [newId()])
    await destroy([newId()])
    expect(await version()).toEqual(before)
  })
})

describe('concurrent changes', () => {
  it.each([1, 2, 3])(
    'of the same contacts and groups keep every count right and run without a deadlock (seed %i)',
    async (seed) => {
      const random = seeded(seed)
      const contacts = await addContacts(databaseUrl, workspaceId, 120)
      const groups = await Promise.all(Array.from({ length: 4 }, () => addGroup(databaseUrl, workspaceId)))
      const some = () => contacts.filter(() => random() < 0.4).sort(() => random() - 0.5)
      const acts = Array.from({ length: 60 }, () => {
        const groupId = groups[Math.floor(random() * groups.length)] as string
        const ids = some()
        const kind = random()
        if (kind < 0.5) return () => add(groupId, ids)
        if (kind < 0.75) return () => remove(groupId, ids)
        return () => destroy(ids.slice(0, 5))
      })
      await Promise.all(acts.map((act) => act()))
      await expectInvariants(databaseUrl)
    },
  )

  it('of a group that is being deleted succeed or fail with NOT_FOUND', async () => {
    const contacts = await addContacts(databaseUrl, workspaceId, 50)
    for (let i = 0; i < 10; i++) {
      const groupId = await addGroup(databaseUrl, workspaceId)
      const [added, , deleted] = await Promise.allSettled([
        add(groupId, contacts),
        sql(databaseUrl).query('delete from contact_groups where id = $1', [groupId]),
        destroy(contacts.slice(i, i + 1)),
      ])
      expect(deleted.status).toBe('fulfilled')
      if (added.status === 'rejected') expect(added.reason).toMatchObject({ extensions: { code: 'NOT_FOUND' } })
    }
    await expectInvariants(databaseUrl)
  })
})
