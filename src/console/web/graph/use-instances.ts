// The instances of the workspace, which the shell read already; events keep their status.
import { useQuery } from 'urql'
import { StartDocument, type StartQuery } from '../generated/graph/graphql.ts'
import { everyType } from './event-types.ts'

export type Instance = StartQuery['instances'][number]

const none: Instance[] = []

export function useInstances(): Instance[] {
  const [{ data }] = useQuery<StartQuery>({
    query: StartDocument.toString(),
    variables: { types: everyType },
    requestPolicy: 'cache-first',
  })
  return data?.instances ?? none
}
