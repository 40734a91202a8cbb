// The keys of `custom` over all contacts of a workspace, which an export has as columns.
import { expect, it } from 'vitest'
import { readCustomKeys } from '../../src/contacts/keys.sql.ts'
import type { Sql } from '../../src/core/database/database.ts'
import { createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { addContacts } from './bulk-rig.ts'

it('reads the keys of very many contacts in statements of bounded size', async () => {
  const databaseUrl = await cloneDatabase()
  const pool = sql(databaseUrl)
  const [{ workspaceId }, other] = [await createAccount(databaseUrl), await createAccount(databaseUrl)]
  const ids = await addContacts(databaseUrl, workspaceId, 20)
  const keyed = `update contacts set custom = jsonb_build_object('key ' || chr(90 - n::int), 'x', 'shared', 'x')
    from unnest($1::uuid[]) with ordinality as u(contact, n) where id = contact`
  await pool.query(keyed, [ids])
  await pool.query(keyed, [await addContacts(databaseUrl, other.workspaceId, 25)])
  const all = [...'FGHIJKLMNOPQRSTUVWXY'].map((letter) => `key ${letter}`)
  let statements = 0
  const counted = {
    query: (...args: Parameters<Sql['query']>) => {
      statements++
      return pool.query(...args)
    },
  } as Sql
  const read = async (limit: number, atOnce: number) => {
    statements = 0
    return [await readCustomKeys(counted, workspaceId, limit, atOnce), statements]
  }
  expect(await read(100, 7)).toEqual([[...all, 'shared'], 3])
  expect(await read(100, 5)).toEqual([[...all, 'shared'], 5])
  expect(await read(3, 7)).toEqual([all.slice(0, 3), 3])
  expect(await read(100, 100)).toEqual([[...all, 'shared'], 1])
})
