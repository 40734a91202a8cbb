// The environment that every gateway under test is started with.
import path from 'node:path'

export const root = path.resolve(import.meta.dirname, '../..')
/** The Node that is installed with the gateway. */
export const node = path.join(root, 'node_modules/.bin/node')
export const secretKey = 'ab'.repeat(32)

/** The environment of every child process: it inherits none of the developer's settings. */
export const environment = {
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  NODE_ENV: 'test',
  // As the npm scripts set it, in a folder that the tests share.
  NODE_COMPILE_CACHE: path.join(root, 'node_modules/.cache/node'),
  PORT: '0',
  ALLOWED_PRIVATE_TARGETS: '127.0.0.1/32',
  SANDBOX_LATENCY_MS: '20',
  // A tenth of a millisecond in place of 40; test/accounts/password.unit.test.ts holds the real cost.
  HASH_MEMORY_KIB: '64',
  // Tests send more requests for one person than a person does; the tests of the limit itself set it.
  PERSON_RATE_LIMIT_PER_SECOND: '100000',
  // With DATABASE_URL, sign-ups need an invitation by default.
  SIGNUP: 'open',
}

/** For gateways whose time or load is measured: password hashes at their real cost. */
export const realHashes = { HASH_MEMORY_KIB: undefined }
