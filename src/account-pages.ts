// The pages that links in mails lead to where no console of one's own is set up: verify an address, set a password, join a team.
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { App } from './core/app.ts'
import { sendError } from './core/http.ts'

/** A page of one form; what it sends goes to the API of the same origin. */
interface AccountPage {
  title: string
  /** HTML of what it holds: a form with named fields, or nothing to fill in. */
  body: string
  /** JavaScript of `send(fields, token)`; what it resolves to is shown, what it throws too. */
  send: string
}

const password =
  '<label>New password <input name="password" type="password" minlength="10" maxlength="128" autocomplete="new-password" required></label>'

const pages: Record<string, AccountPage> = {
  '/verify-email': {
    title: 'Verify your e-mail address',
    body: '<button>Verify</button>',
    send: `async (fields, token) => {
  await call('/api/auth/verify-email', { token })
  return 'Your address is verified. You can sign in now.'
}`,
  },
  '/reset-password': {
    title: 'Set a new password',
    body: `${password}<button>Set it</button>`,
    send: `async ({ password }, token) => {
  await call('/api/auth/password/reset', { token, password })
  return 'Your password is set. You can sign in with it now.'
}`,
  },
  '/invitation': {
    title: 'Join the team',
    body: `<label>E-mail address <input name="email" type="email" autocomplete="username" required></label>
<label>Password <input name="password" type="password" maxlength="128" autocomplete="current-password" required></label>
<button>Sign in and join</button>`,
    send: `async ({ email, password }, token) => {
  const { accessToken } = await call('/api/auth/login', { email, password })
  await call('/api/teams/invitations/accept', { token }, accessToken)
  return 'You are in the team.'
}`,
  },
}

const style = `body { font: 1rem/1.5 system-ui, sans-serif; max-width: 24rem; margin: 4rem auto; padding: 0 1rem }
form { display: grid; gap: 1rem } label { display: grid; gap: .25rem } input, button { font: inherit; padding: .5rem }
#said { min-height: 3rem }`

/** What every page runs: its form is sent once, and what came of it is said in its place. */
const program = (send: string) => `const call = async (path, body, token) => {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: 'Bearer ' + token }) }
  const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error.message)
  return answer.data
}
const send = ${send}
const token = new URLSearchParams(location.search).get('token') ?? ''
// What is in the address would stay in the history.
history.replaceState(null, '', location.pathname)
const form = document.querySelector('form')
const said = document.getElementById('said')
form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const button = form.querySelector('button')
  button.disabled = true
  said.textContent = ''
  try {
    said.textContent = await send(Object.fromEntries(new FormData(form)), token)
    form.hidden = true
  } catch (error) {
    said.textContent = error.message
    button.disabled = false
  }
})`

/** Writes a page out of its HTML and program, with headers that let nothing else run. */
export type ShowHtml = (reply: FastifyReply, page: { title: string; head: string; body: string; program: string }) => FastifyReply

/** Registers the pages; answers which methods each path takes. */
export function mountAccountPages(http: FastifyInstance, app: App, show: ShowHtml): Map<string, Set<string>> {
  for (const [path, { title, body, send }] of Object.entries(pages)) {
    http.get(path, async (_, reply) => {
      // The links lead to the console, which has pages of its own.
      if (app.config.consoleUrl) return sendError(reply, 'NOT_FOUND')
      // Nobody that the page might lead to is to read the token in its address.
      reply.header('Referrer-Policy', 'no-referrer')
      const html = `<h1>${title}</h1>\n<form>${body}</form>\n<p id="said" role="status"></p>\n<noscript>This page needs JavaScript.</noscript>`
      return show(reply, { title, head: `<style>${style}</style>`, body: html, program: program(send) })
    })
  }
  return new Map(Object.keys(pages).map((path) => [path, new Set(['GET'])]))
}
