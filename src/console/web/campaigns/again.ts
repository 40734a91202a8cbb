// Reads the recipients of a campaign who failed, all of them at once, from the file that exports its recipients.
import { fetchFor, type Team } from '../graph/request.ts'
import { ApiError } from '../session/auth-call.ts'
import { settings } from '../settings.ts'
import { numberOf, rowsOf } from './read-recipients.ts'

/** Their numbers, in the order of sending. @throws ApiError */
export async function readFailed(team: Team, campaignId: string): Promise<string[]> {
  const response = await fetchFor(team)(`${settings.base}/api/campaigns/${encodeURIComponent(campaignId)}/recipients.csv`)
  if (!response.ok) throw new ApiError(response.status, response.status === 404 ? 'NOT_FOUND' : 'SERVICE_UNAVAILABLE', '')
  const [head, ...rows] = rowsOf(await response.text())
  const column = (name: string) => head?.cells.indexOf(name) ?? -1
  const [to, status] = [column('to'), column('status')]
  return rows.flatMap(({ cells }) => (cells[status] === 'failed' ? (numberOf(cells[to] ?? '') ?? []) : []))
}
