// Fixtures of the admission tests: two processes on one database, clients of both, and the number of counted requests.
import type { Account } from '../kit/accounts.ts'
import { type Answer, type Api, hastyApi } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { type OpenGateway, openGateways } from '../kit/open-gateway.ts'

export interface Two {
  databaseUrl: string
  gateways: readonly [OpenGateway, OpenGateway]
  /** One client for each process, with the same key. */
  clients: (apiKey: string, headers?: Record<string, string>) => [Api, Api]
  /** The number of API requests counted for the account. */
  apiUsage: (account: Account) => Promise<number>
}

export async function openTwo(): Promise<Two> {
  const databaseUrl = await cloneDatabase()
  const gateways = await openGateways({ databaseUrl })
  return {
    databaseUrl,
    gateways,
    clients: (apiKey, headers = {}) => [hastyApi(gateways[0], apiKey, headers), hastyApi(gateways[1], apiKey, headers)],
    async apiUsage({ userId }) {
      const { rows } = await sql(databaseUrl).query(
        'select coalesce(sum("apiRequestsCount"), 0)::int as n from api_usage where "userId" = $1',
        [userId],
      )
      return rows[0]?.n as number
    },
  }
}

/** Counts the answers of each kind. */
export function codes(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status, body } of answers) {
    const name = status < 300 ? 'ok' : `${status} ${body.error.code}`
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

export const tooFast = '429 API_RATE_LIMIT_EXCEEDED'
