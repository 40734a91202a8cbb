// Reads the recipients of a campaign who failed, all of them at once, from the file that exports its recipients.
import { readFile } from '../graph/download.ts'
import type { Team } from '../graph/request.ts'
import { numberOf, rowsOf } from './read-recipients.ts'

/** Their numbers, in the order of sending. @throws ApiError */
export async function readFailed(team: Team, campaignId: string): Promise<string[]> {
  const file = await readFile(team, `campaigns/${encodeURIComponent(campaignId)}/recipients.csv`)
  const [head, ...rows] = rowsOf(await file.text())
  const column = (name: string) => head?.cells.indexOf(name) ?? -1
  const [to, status] = [column('to'), column('status')]
  return rows.flatMap(({ cells }) => (cells[status] === 'failed' ? (numberOf(cells[to] ?? '') ?? []) : []))
}
