// Setup for tests of S3: a bucket, and a gateway that stores its files there.
import { type Account, createAccount } from '../kit/accounts.ts'
import { atEnd } from '../kit/at-end.ts'
import { cloneDatabase } from '../kit/database.ts'
import { type OpenGateway, openGateway } from '../kit/open-gateway.ts'
import { type Credentials, openS3, type S3Server } from '../kit/s3-server.ts'
import { dataFolder } from '../promises/demo.ts'

export const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'the-secret/of+the=bucket', region: 'eu-central-1' }

/** The server ends with the test, or with its file. */
export async function startS3(given: Credentials): Promise<S3Server> {
  const s3 = await openS3(given)
  atEnd('test', () => s3[Symbol.asyncDispose]())
  return s3
}

export interface Bucket {
  s3: S3Server
  /** The configuration of the gateway. */
  env: Record<string, string>
  databaseUrl: string
  account: Account
  gateway: OpenGateway
}

/** Everything ends with the test file. */
export async function openBucket(): Promise<Bucket> {
  const s3 = await startS3(credentials)
  const databaseUrl = await cloneDatabase()
  const account = await createAccount(databaseUrl)
  const env: Record<string, string> = {
    DATA_DIR: await dataFolder(),
    MEDIA_STORE: 's3',
    S3_BUCKET: 'files',
    S3_ENDPOINT: s3.url,
    S3_REGION: credentials.region,
    S3_ACCESS_KEY_ID: credentials.accessKeyId,
    S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    LOG_LEVEL: 'trace',
    RATE_LIMIT_PER_SECOND: '100000',
  }
  const gateway = await openGateway({ databaseUrl, env })
  return { s3, env, databaseUrl, account, gateway }
}
