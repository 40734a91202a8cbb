// Saves the answer of a route as a file. The routes want the token in a header, so a plain link would be refused.
import { ApiError } from '../session/auth-call.ts'
import { settings } from '../settings.ts'
import { fetchFor, type Team } from './request.ts'

/** Reads the whole answer of a route. `path` is relative to `/api/`. @throws ApiError */
export async function readFile(team: Team, path: string): Promise<Blob> {
  const offline = () => {
    throw new ApiError(0, 'OFFLINE', '')
  }
  const response = await fetchFor(team)(`${settings.base}/api/${path}`).catch(offline)
  if (!response.ok) {
    const { error } = (await response.json().catch(() => ({}))) as { error?: { code: string; message: string } }
    throw new ApiError(response.status, error?.code ?? 'SERVICE_UNAVAILABLE', error?.message ?? '')
  }
  return await response.blob().catch(offline)
}

/** `path` is relative to `/api/`. @throws ApiError */
export async function download(team: Team, path: string, name: string): Promise<void> {
  const file = await readFile(team, path)
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
