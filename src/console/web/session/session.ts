// The session of this browser. The access token lives in this module only; the session itself is an httpOnly cookie.
import { prefer } from '../preferences.ts'
import { ApiError, post } from './auth-call.ts'
import { forgetDrafts } from './drafts.ts'

export type Phase = 'starting' | 'in' | 'out'

interface Token {
  accessToken: string
  /** Seconds. */
  expiresIn: number
}

let phase: Phase = 'starting'
let token: string | null = null
let renewAt = 0
let renewing: Promise<string | null> | null = null
/** Settles when the requests about earlier sessions are answered. Their answers may clear the cookie. */
let earlier: Promise<unknown> = Promise.resolve()
let isSigningIn = false
const listeners = new Set<() => void>()
const otherTabs = new BroadcastChannel('session')

export function phaseOf(): Phase {
  return phase
}

export function onPhase(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function enter(next: Phase): void {
  if (next === phase) return
  phase = next
  for (const listener of listeners) listener()
}

/** Gives up a renewal in progress, whose answer is about the session before. */
function keep({ accessToken, expiresIn }: Token): string {
  renewing = null
  token = accessToken
  renewAt = Date.now() + expiresIn * 800
  prefer('known', '1')
  enter('in')
  return accessToken
}

function forget(): void {
  renewing = null
  token = null
  prefer('known', null)
  enter('out')
}

/** Lets the next sign-in wait for the answer to a request with the present cookie. */
function ofThisSession<Data>(answer: Promise<Data>): Promise<Data> {
  earlier = Promise.allSettled([earlier, answer]).then(() => undefined)
  return answer
}

/** Fetches a token with the cookie, one request for all callers. Resolves to null when the session has ended. @throws when offline. */
export function renew(): Promise<string | null> {
  if (renewing) return renewing
  const asked: Promise<string | null> = ofThisSession(post<Token>('token', {}))
    .then(
      (given) => (renewing === asked ? keep(given) : token),
      (error: unknown) => {
        if (renewing !== asked) return token
        if (!(error instanceof ApiError) || error.status !== 401) throw error
        forget()
        return null
      },
    )
    .finally(() => {
      if (renewing === asked) renewing = null
    })
  renewing = asked
  return asked
}

/** The access token, renewed at 80 % of its life; null when signed out. */
export async function accessToken(): Promise<string | null> {
  if (phase === 'out') return null
  if (token && Date.now() < renewAt) return token
  return await renew()
}

/** Signs in, once the requests about earlier sessions are answered, and replaces the token of the last one. @throws ApiError */
export async function begin(path: 'login' | 'login/link', credentials: object): Promise<void> {
  isSigningIn = true
  try {
    await earlier
    keep(await post<Token>(path, credentials))
  } finally {
    isSigningIn = false
  }
  otherTabs.postMessage('in')
}

/** Ends the session here and in all tabs. The pages go first, so that none of their requests is refused. */
export async function signOut(): Promise<void> {
  const ended = token
  forget()
  forgetDrafts()
  otherTabs.postMessage('out')
  try {
    await ofThisSession(post('logout', {}, ended))
  } catch {
    // The pages of this account would stay on screen under the token of another one.
    if (isSigningIn) return
    // Not reached: the session is still there, and so are its pages.
    enter('in')
    otherTabs.postMessage('in')
  }
}

/** Shows the sign-in at once if the browser never signed in, because a request for a token would only be refused. */
export async function startSession(ask: boolean): Promise<void> {
  if (!ask) return enter('out')
  try {
    await renew()
  } catch {
    // Offline or the gateway restarts: the pages say so, and try again.
    enter('in')
  }
}

/**
 * Another account may have signed in, so nothing of this one stays on screen: the sign-in leads back to the page. The window is not loaded
 * again, or what was typed would be lost to its own account, too.
 */
function returnAnew(): void {
  forget()
  renew().catch(() => location.reload())
}

otherTabs.onmessage = ({ data }) => {
  if (data === 'out' && phase === 'in') {
    forget()
    forgetDrafts()
  } else if (data === 'in') returnAnew()
}
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible' && phase === 'in' && Date.now() >= renewAt) renew().catch(() => {})
})
