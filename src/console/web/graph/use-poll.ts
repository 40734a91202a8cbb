// Reads records into the cache again and again, for pages that show them and changes that no event reports.
import { useWorkspace } from '../shell/workspace-context.ts'
import type { Document } from './request.ts'
import { useRefresh } from './use-refresh.ts'

/** Calls `answered` with each answer; without data if they cannot be read. */
export function usePoll<Data, Variables extends object>(
  document: Document<Data, Variables>,
  variables: Variables,
  answered: (data: Data | undefined) => void,
): void {
  const { graph } = useWorkspace()
  useRefresh(true, () => {
    const answer = graph.client.query<Data>(document.toString(), variables, { requestPolicy: 'network-only' }).toPromise()
    void answer.then(({ data, error }) => answered(error ? undefined : data))
  })
}
