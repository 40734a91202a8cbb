// Proves that `gateway reseal` knows every column of bytes that is encrypted.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { sealedColumns } from '../../src/cli/reseal.sql.ts'
import { root } from '../kit/environment.ts'

/** Hashes, and pieces of files. */
const plain = [
  'email_counts.digest',
  'api_keys.hash',
  'team_invitations.tokenHash',
  'idempotency_keys.fingerprint',
  'live_connections.digest',
  'import_pieces.bytes',
]

it('every column of bytes is resealed or is not encrypted', () => {
  const dir = path.join(root, 'prisma/schema')
  const text = readdirSync(dir).map((file) => readFileSync(path.join(dir, file), 'utf8'))
  const bytes = [...text.join('\n').matchAll(/^model \w+ \{(.*?)^\}/gms)].flatMap(([, body = '']) => {
    const table = /@@map\("(\w+)"\)/.exec(body)?.[1]
    return [...body.matchAll(/^ {2}(\w+) +Bytes/gm)].map(([, column]) => `${table}.${column}`)
  })
  const resealed = sealedColumns.filter(({ type }) => type === 'bytea').map(({ table, column }) => `${table}.${column}`)
  expect(bytes.toSorted()).toEqual([...resealed, ...plain].toSorted())
})
