// Proves that a failure to start is explained in one sentence that says what to do.
import { expect, it } from 'vitest'
import { databaseUser } from '../../src/core/database/database-user.ts'
import { sentenceOf } from '../../src/core/sentence.ts'

it.each([
  [{ code: '53300', message: 'sorry, too many clients already' }, /no connection left .*raise max_connections/],
  [{ code: '53100', message: 'could not extend file' }, /^The disk of the database is full .*free some space/],
  [
    { code: 'ENOSPC', message: 'ENOSPC: no space left on device, write' },
    /^The disk of DATA_DIR is full \(ENOSPC\); free some space/,
  ],
  [{ code: 'ENOENT', path: '/ca.crt', message: 'ENOENT: no such file' }, /^\/ca\.crt does not exist .*DATABASE_URL/],
  [
    { code: 'ENOENT', syscall: 'mkdir', path: '/ro/data', message: 'ENOENT: no such file or directory, mkdir' },
    /^\/ro\/data cannot be created; check DATA_DIR, and that its disk is not read-only$/,
  ],
  [{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT', message: 'self-signed certificate' }, /not trusted .*sslrootcert=FILE/],
  [{ code: 'ERR_TLS_CERT_ALTNAME_INVALID', message: 'does not match' }, /is for another host .*DATABASE_URL/],
  [{ code: '28000', message: 'no pg_hba.conf entry for user "u", no encryption' }, /add sslmode=verify-full to DATABASE_URL/],
  // German servers.
  [
    { code: '28000', message: 'pg_hba.conf lehnt Verbindung ab für Host »h«, Benutzer »u«, keine Verschlüsselung' },
    /pg_hba\.conf of the database refuses .*add sslmode=verify-full to DATABASE_URL/,
  ],
  [
    {
      message:
        'The embedded database could not be created: initdb: could not look up effective user ID 12345: user does not exist',
    },
    /user 12345 has none; add it to \/etc\/passwd .*or set DATABASE_URL/,
  ],
  [
    { code: '08P01', message: 'unsupported startup parameter: options' },
    /^A pooler in front of the database refuses .*set DATABASE_DIRECT_URL to the same database without the pooler$/,
  ],
  [
    { code: '55P03', message: 'canceling statement due to lock timeout' },
    /^Another session keeps tables of the database locked, as `gateway copy-database` does \(.*\); start again when it has ended$/,
  ],
  [{ code: '42501', message: 'keine Berechtigung für Schema public' }, /^The user of DATABASE_URL may not .*make it the owner/],
])('explains %o in a sentence that says what to do', ({ message, ...fields }, sentence) => {
  expect(sentenceOf(Object.assign(new Error(message), fields))).toMatch(sentence)
})

it('reports why a PostgreSQL program failed, without its cleanup messages', async () => {
  const { run } = await databaseUser(['/'])
  const script = 'echo "initdb: error: no space" >&2; echo "initdb: removing data directory" >&2; exit 1'
  await expect(run('/bin/sh', ['-c', script])).rejects.toThrow(/^initdb: error: no space$/)
})
