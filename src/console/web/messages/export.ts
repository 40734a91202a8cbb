// Saves the filtered list as a file. The route wants the token in a header, so a plain link would be refused.
import type { MessageFilter } from '../generated/messages/graphql.ts'
import { fetchFor, type Team } from '../graph/request.ts'
import { ApiError } from '../session/auth-call.ts'
import { settings } from '../settings.ts'
import { exportQuery } from './filter.ts'

/** @throws ApiError */
export async function downloadCsv(team: Team, filter: MessageFilter): Promise<void> {
  const response = await fetchFor(team)(`${settings.base}/api/messages/export.csv?${exportQuery(filter)}`)
  if (!response.ok) {
    const { error } = (await response.json().catch(() => ({}))) as { error?: { code: string; message: string } }
    throw new ApiError(response.status, error?.code ?? 'SERVICE_UNAVAILABLE', error?.message ?? '')
  }
  const link = document.createElement('a')
  link.href = URL.createObjectURL(await response.blob())
  link.download = 'messages.csv'
  link.click()
  URL.revokeObjectURL(link.href)
}
