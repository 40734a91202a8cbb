// Runs the script of a served page as a browser would, as far as the gateway's own scripts need: forms, addresses, session
// storage.
import vm from 'node:vm'
import { until } from '../kit/until.ts'

export interface Opened {
  /** The message that the page shows. */
  said: () => string
  /** The address after the page's script changed it. */
  address: () => string
  stored: Map<string, string>
  /** The arguments that the page passed to Scalar or GraphiQL. */
  shown: () => unknown
  reloads: () => number
  element: (name: string) => StandIn
}

/** An element of any kind: it stores what scripts write to it, and the test sends events to it. */
export interface StandIn {
  value: string
  hidden: boolean
  textContent: string
  disabled: boolean
  send: (event: string) => Promise<void>
}

interface Element extends StandIn {
  addEventListener: (event: string, listener: (event: { preventDefault: () => void }) => unknown) => void
}

function newElement(): Element {
  const listeners = new Map<string, (event: { preventDefault: () => void }) => unknown>()
  return {
    value: '',
    hidden: false,
    textContent: '',
    disabled: false,
    addEventListener: (event, listener) => listeners.set(event, listener),
    send: async (event) => void (await listeners.get(event)?.({ preventDefault: () => {} })),
  }
}

export interface OpenOptions {
  /** The session storage, as the tab left it. */
  stored?: Map<string, string>
  cookie?: string
  /** The Origin header that the browser would send; by default that of the address. */
  origin?: string
}

/** The gateway's own scripts of a page, in the order in which it loads them. Scalar and GraphiQL have stand-ins. */
export async function programOf(html: string, url: URL): Promise<string> {
  const names = [...html.matchAll(/<script src="([^"]*)"/g)].map(([, name]) => name as string)
  const own = names.filter((name) => !/\/(scalar|graphiql)\.js$/.test(name))
  return (await Promise.all(own.map(async (name) => await (await fetch(new URL(name, url))).text()))).join('\n')
}

/** Opens the page at an address and runs its script until it has started. */
export async function openPage(address: string, options: OpenOptions = {}): Promise<Opened> {
  const url = new URL(address)
  const html = await (await fetch(url, { headers: { accept: 'text/html' } })).text()
  const settings = html
    .match(/<body data-settings="([^"]*)">/)?.[1]
    ?.replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
  const program = await programOf(html, url)
  const elements = new Map<string, Element>()
  const element = (name: string): Element => {
    const known = elements.get(name) ?? newElement()
    elements.set(name, known)
    return known
  }
  const form = Object.assign(element('key'), {
    elements: { key: element('field'), mine: element('mine'), forget: element('forget') },
  })
  const stored = options.stored ?? new Map<string, string>()
  let pending = 0
  let reloads = 0
  let shown: unknown
  const location = { href: url.href, hash: url.hash, search: url.search, pathname: url.pathname, reload: () => reloads++ }
  vm.runInNewContext(program, {
    URL,
    URLSearchParams,
    JSON,
    location,
    document: {
      body: { dataset: { settings } },
      getElementById: (id: string) => (id === 'key' ? form : element(id)),
      forms: [],
    },
    sessionStorage: {
      getItem: (name: string) => stored.get(name) ?? null,
      setItem: (name: string, value: string) => stored.set(name, value),
      removeItem: (name: string) => stored.delete(name),
    },
    history: {
      replaceState: (_: unknown, __: string, to: string) => {
        location.href = new URL(to, location.href).href
      },
    },
    fetch: async (path: string, init: { headers?: Record<string, string> }) => {
      pending++
      const headers = { ...init.headers, origin: options.origin ?? url.origin, ...(options.cookie && { cookie: options.cookie }) }
      return await fetch(new URL(path, url), { ...init, headers }).finally(() => pending--)
    },
    Scalar: { createApiReference: (_: string, settings: unknown) => (shown = settings) },
    YogaGraphiQL: { renderYogaGraphiQL: (_: unknown, settings: unknown) => (shown = settings) },
  })
  if (html.includes('id="key"')) await until(() => shown)
  else await until(() => pending === 0)
  return {
    said: () => element('said').textContent,
    address: () => location.href,
    stored,
    shown: () => shown,
    reloads: () => reloads,
    element,
  }
}
