// Addresses and moves between pages. Pages use the router by this file only.
import { Link as RouterLink, useLocation, useNavigate, useParams, useRouter, useSearch } from '@tanstack/react-router'
import { type ComponentProps, type ReactNode, useCallback } from 'react'
import type { Team } from './graph/request.ts'

/** The search part of an address: filters, sort, open panel. */
export type Search = Record<string, string | undefined>

/** The address of a page of a workspace; the empty page is its home. */
export function pathIn(team: Team, page = ''): string {
  const workspace = team ? `/t/${team}` : '/me'
  return page ? `${workspace}/${page}` : workspace
}

interface ToProps extends Omit<ComponentProps<'a'>, 'href'> {
  to: string
  search?: Search
  children: ReactNode
}

/** A link to a page of the console. It loads the page's code when it is pointed at or focused. */
export function To({ to, search, ...rest }: ToProps) {
  return <RouterLink to={to as '/'} search={search as never} preload="intent" activeOptions={{ exact: true }} {...rest} />
}

/** Goes to a page, unless another one was opened since: an answer that comes late takes nobody away from it. */
export function useGo(): (to: string, search?: Search) => void {
  const navigate = useNavigate()
  const router = useRouter()
  const path = usePath()
  return useCallback(
    (to, search) => {
      if (router.state.location.pathname === path) void navigate({ to: to as '/', search: (search ?? {}) as never })
    },
    [navigate, router, path],
  )
}

/** The part of the path with that name. */
export function usePart(name: string): string {
  return (useParams({ strict: false }) as Record<string, string>)[name] ?? ''
}

export function usePath(): string {
  return useLocation({ select: ({ pathname }) => pathname })
}

/** The search part of the address, and a function that changes some of it without a new entry in the history. */
export function useAddress(): [Search, (change: Search) => void] {
  const search = useSearch({ strict: false }) as Search
  const navigate = useNavigate()
  const change = useCallback(
    (part: Search) =>
      void navigate({
        to: '.' as '/',
        search: ((before: Search) =>
          Object.fromEntries(Object.entries({ ...before, ...part }).filter(([, value]) => value))) as never,
        replace: true,
      }),
    [navigate],
  )
  return [search, change]
}

/** A path of this origin that a sign-in may lead to; the start page for everything else. */
export function safeNext(next: string | undefined): string {
  if (!next?.startsWith('/') || next.startsWith('//') || next.includes('\\')) return '/'
  return next
}
