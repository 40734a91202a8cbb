// The address that a network calls for an instance, and the token with which it verifies that address.
import type { App } from '../core/app.ts'
import type { Context } from '../core/context.ts'
import { loadFound } from '../core/graph/load.ts'
import { manages } from '../core/roles.ts'
import type { ProviderName } from '../providers/provider.ts'
import { providerOf } from '../providers/providers.ts'

/** Null if the network calls no address, or if this server does not know its own. */
export function callbackUrl(app: App, provider: ProviderName, id: string): string | null {
  const { publicUrl } = app.config
  // The route whose path is the id of an instance, and nothing else.
  const isCalled = providerOf(app, provider)?.routes?.some(({ path }) => /^\/:\w+$/.test(path))
  return publicUrl && isCalled ? `${publicUrl}/providers/${provider}/${id}` : null
}

/** Null for callers who do not manage instances, and for keys with less than full access. */
export async function loadVerifyToken(ctx: Context, id: string): Promise<string | null> {
  const { app, principal } = ctx
  if (principal.access !== 'full' || (principal.role !== null && !manages(principal.role))) return null
  return await loadFound(ctx, 'verifyToken', id, null, async (ids) => {
    const where = { id: { in: [...ids] }, workspaceId: principal.workspaceId }
    const select = { id: true, provider: true, waNumber: true, settings: true, credentials: true }
    const rows = await app.db.instance.findMany({ where, select })
    return new Map(rows.map((row) => [row.id, providerOf(app, row.provider)?.verifyToken?.(row) ?? null]))
  })
}
