// Rig of the webhook endpoint tests: a gateway without private targets, its client, clients of other accounts, and new endpoints.
import { expect } from 'vitest'
import { createAccount } from '../kit/accounts.ts'
import type { Api } from '../kit/api.ts'
import { openScene } from '../kit/scene.ts'

export const hook = 'https://hooks.example/in'

export type Endpoints = Awaited<ReturnType<typeof openEndpoints>>

export async function openEndpoints() {
  const scene = await openScene({ env: { ALLOWED_PRIVATE_TARGETS: '' } })
  const client = scene.client()
  return {
    scene,
    client,

    /** A client of another account, on the plan `max` by default. */
    async stranger(plan: 'free' | 'max' = 'max'): Promise<Api> {
      return scene.client(0, await createAccount(scene.databaseUrl, { plan }))
    },

    async create(events = ['message.sent'], url = hook): Promise<Record<string, string>> {
      const answer = await client.post('webhooks', { url, events })
      expect(answer.status).toBe(201)
      return answer.body.data
    },
  }
}
