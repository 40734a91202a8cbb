// The API keys of a workspace: a person's own, or those of a team.
import {
  CreateKeyDocument,
  CreateTeamKeyDocument,
  type KeyRowFragment,
  KeysDocument,
  RevokeKeyDocument,
  RevokeTeamKeyDocument,
  TeamKeysDocument,
} from '../generated/keys/graphql.ts'
import { ask } from '../graph/request.ts'
import { useRead } from '../graph/use-read.ts'
import type { ApiError } from '../session/auth-call.ts'
import { useWorkspace } from '../shell/workspace-context.ts'

export interface NewKey {
  name: string
  access: KeyRowFragment['access']
  idempotencyKey: string
}

export interface ApiKeys {
  keys: readonly KeyRowFragment[]
  loading: boolean
  error: ApiError | undefined
  again: () => void
  /** Resolves to the key itself, which no cache holds. @throws ApiError */
  create: (input: NewKey) => Promise<{ id: string; key: string }>
  /** @throws ApiError */
  revoke: (id: string) => Promise<void>
}

export function useApiKeys(): ApiKeys {
  const { team } = useWorkspace()
  const own = useRead(KeysDocument, {}, { pause: team !== null })
  const ofTeam = useRead(TeamKeysDocument, { id: team ?? '' }, { pause: team === null })
  const { loading, error, again } = team ? ofTeam : own
  return {
    keys: (team ? ofTeam.data?.team?.apiKeys : own.data?.apiKeys) ?? [],
    loading,
    error,
    again,
    async create(input) {
      try {
        const { id, key } = team
          ? (await ask(team, CreateTeamKeyDocument, { teamId: team, input })).createTeamApiKey
          : (await ask(team, CreateKeyDocument, { input })).createApiKey
        return { id, key }
      } finally {
        // Without an answer it may have been made all the same.
        again()
      }
    },
    async revoke(id) {
      if (team) await ask(team, RevokeTeamKeyDocument, { teamId: team, id })
      else await ask(team, RevokeKeyDocument, { id })
      again()
    },
  }
}
