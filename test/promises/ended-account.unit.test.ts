// Proves that nothing of a workspace outlives its account: every model with a workspace is in the list of what is deleted.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { rowsOfInstances, rowsOfWorkspace } from '../../src/erase-account.sql.ts'
import { root } from '../kit/environment.ts'

/** Emptied instead of deleted, or deleted with their bytes. */
const otherwise = ['events', 'media']

it('the rows of an ended workspace are those of every model that has a workspace', () => {
  const dir = path.join(root, 'prisma/schema')
  const text = readdirSync(dir).map((file) => readFileSync(path.join(dir, file), 'utf8'))
  const models = text.flatMap((one) => [...one.matchAll(/^model \w+ \{(.*?)^\}/gms)].map(([, body]) => body as string))
  const tables = models.filter((body) => /^ {2}workspaceId /m.test(body)).map((body) => /@@map\("(\w+)"\)/.exec(body)?.[1])
  const deleted = [...rowsOfWorkspace('x'), ...rowsOfInstances('x')].map(({ table }) => table)
  expect(tables.filter((table) => !deleted.includes(table as string) && !otherwise.includes(table as string))).toEqual([])
})
