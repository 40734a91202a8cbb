// Large uploads are streamed to storage: many of them at the same time take hardly more memory than one.
import { expect, it } from 'vitest'
import { createAccount } from '../kit/accounts.ts'
import { cloneDatabase } from '../kit/database.ts'
import { startGateway } from '../kit/gateway.ts'
import { measuredAgain } from '../kit/measured.ts'
import { residentBytes } from '../kit/resident.ts'
import { dataFolder } from '../promises/demo.ts'
import { post, rawForm } from './rig.ts'

// Measured again: the allocator sometimes keeps memory that it could return, but memory in use shows in every measurement.
it.skipIf(process.platform !== 'linux')(
  'eight large concurrent uploads take less than 96 MiB more memory than one',
  { timeout: 120_000, ...measuredAgain },
  async () => {
    const databaseUrl = await cloneDatabase()
    const account = await createAccount(databaseUrl)
    const gateway = await startGateway({ databaseUrl, env: { DATA_DIR: await dataFolder(), RATE_LIMIT_PER_SECOND: '100000' } })
    const size = 60 * 1024 * 1024
    const { body, headers } = rawForm('x'.repeat(size), 'form-data; name="file"; filename="a"')
    const form = Buffer.from(body)
    const memory = () => residentBytes(gateway.pid)
    await post(gateway, account.apiKey, form, headers)
    const before = memory()
    let most = 0
    const timer = setInterval(() => {
      most = Math.max(most, memory())
    }, 20)
    const uploads = Array.from({ length: 8 }, () => post(gateway, account.apiKey, form, headers))
    const answers = await Promise.all(uploads).finally(() => clearInterval(timer))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201))
    expect(most - before, 'bytes of 480 MiB that were held').toBeLessThan(96 * 1024 * 1024)
  },
)
