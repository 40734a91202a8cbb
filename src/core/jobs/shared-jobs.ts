// Jobs that several things share, because a job costs PostgreSQL about as much as the message or delivery that it is for.
import type { JobRequest } from './jobs.ts'

/**
 * Most things in one job. A process that fetches it keeps them from the other processes, so it is small. With ten in place of one, 16 clients
 * cost PostgreSQL 30 % less for accepting and 36 % less for sending (`npm run bench -- cost`).
 */
const mostTogether = 10

/** Joins the requests that are due at once into jobs of up to ten. Those with a time, an id, a key or a group stay apart. */
export function shareJobs<One extends object, Many extends object>(
  requests: readonly JobRequest<One>[],
  join: (several: One[]) => Many,
): JobRequest<One | Many>[] {
  const isApart = ({ id, startAfter, key, group }: JobRequest<One>) => (id ?? startAfter ?? key ?? group) !== undefined
  const jobs: JobRequest<One | Many>[] = requests.filter(isApart)
  const together = requests.filter((request) => !isApart(request))
  for (const [priority, list] of Map.groupBy(together, (request) => request.priority)) {
    for (let i = 0; i < list.length; i += mostTogether) {
      const several = list.slice(i, i + mostTogether).map(({ data }) => data)
      jobs.push({ data: several.length === 1 ? (several[0] as One) : join(several), priority })
    }
  }
  return jobs
}
