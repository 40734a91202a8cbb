// Built-in account pages, served if no console is configured: sign-in, and the pages that mails link to.
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { App } from '../core/app.ts'
import { sendError } from '../core/http/error-answer.ts'

/** A page of forms. The forms call the API of the same origin. */
interface AccountPage {
  title: string
  /** HTML. The name of a form selects its function in `sends`. */
  body: string
  /**
   * Source of a JavaScript object: for each form name, the function `async (fields, token)` that submits the form. `token` comes from the
   * URL of the page. A returned text replaces the form; the message of an error appears beside it.
   */
  sends: string
  /** JavaScript that runs when the page opens. It can use `say(text)`, and `query`, the query parameters of the URL. */
  begin?: string
}

const email = '<label>E-mail address <input name="email" type="email" autocomplete="username" required></label>'
const password =
  '<label>Password <input name="password" type="password" maxlength="128" autocomplete="current-password" required></label>'
const newPassword =
  '<label>New password <input name="password" type="password" minlength="10" maxlength="128" autocomplete="new-password" required></label>'
const name = '<label>Name <input name="name" maxlength="100" autocomplete="name" required></label>'

/** `provider` is the name of the identity provider, if one is configured. */
function accountPage(provider: string | undefined): AccountPage {
  return {
    title: 'Your account',
    body: `<div id="in" hidden>
<p>You are signed in as <b id="who"></b>. Your plan: <b id="plan"></b></p>
<form name="leave"><button>Sign out</button></form>
</div>
<div id="out" hidden>
<form name="enter">${email}${password}<button>Sign in</button></form>
${provider ? `<p><a href="api/auth/oauth/${provider}">Sign in with ${provider}</a></p>` : ''}
<details><summary>Set a new password</summary><form name="forgot">${email}<button>Send a mail</button></form></details>
<details><summary>Make an account</summary><form name="join">${name}${email}${newPassword}<button>Sign up</button></form></details>
</div>`,
    sends: `{
  async enter(fields) {
    await call('api/auth/login', fields)
    await look()
  },
  async leave() {
    await call('api/auth/logout', {})
    await look()
  },
  async forgot(fields) {
    await call('api/auth/password/forgot', fields)
    return 'If there is an account with this address, a mail is on its way to it.'
  },
  async join(fields) {
    await call('api/auth/signup', fields)
    return 'A mail is on its way to you. Your account begins with the link in it.'
  },
}`,
    begin: `const inWords = ({ plan, status, currentPeriodEnd }) => {
  if (status === 'active') return plan.name
  return plan.name + ', ' + (status === 'cancelled' ? 'until ' + currentPeriodEnd.slice(0, 10) : status.replace('_', ' '))
}
// The session cookie is HttpOnly, so only a request shows whether a person is signed in.
const look = async () => {
  const { accessToken } = await call('api/auth/token', {}).catch(() => ({}))
  const query = '{ me { email } subscription { plan { name } status currentPeriodEnd } }'
  const { me, subscription } = accessToken ? await call('graphql', { query }, accessToken) : {}
  document.getElementById('who').textContent = me ? me.email : ''
  document.getElementById('plan').textContent = me ? inWords(subscription) : ''
  document.getElementById('in').hidden = !me
  document.getElementById('out').hidden = Boolean(me)
}
const reasons = {
  access_denied: 'the identity provider did not let you in',
  account_not_linked: 'there is an account with your e-mail address that it cannot be joined with; sign in with its password',
  email_not_valid: 'what the identity provider gives for your e-mail address is none',
  email_not_verified: 'the identity provider has not verified your e-mail address',
}
const orders = {
  completed: 'Thank you. Your order is complete; its plan shows here in a moment.',
  cancelled: 'Nothing was ordered.',
}
// Anybody can make an address: what stands in it is a code that picks one of our texts, and never shown itself.
const textFor = (texts, code) => (Object.hasOwn(texts, code) ? texts[code] : undefined)
say(textFor(orders, query.get('checkout')))
const reason = textFor(reasons, query.get('error'))
if (query.has('error')) say('Signing in did not work' + (reason ? ': ' + reason : '') + '.')
look().catch(({ message }) => say(message))`,
  }
}

const mailPages: Record<string, AccountPage> = {
  '/verify-email': {
    title: 'Verify your e-mail address',
    // The form asks for the password of the sign-up, so that a mail that someone else triggered verifies nothing.
    body: `<form name="verify">${password}<button>Verify</button></form>`,
    sends: `{
  async verify(fields, token) {
    await call('api/auth/verify-email', { token, ...fields })
    return 'Your address is verified. You can sign in now.'
  },
}`,
  },
  '/reset-password': {
    title: 'Set a new password',
    body: `<form name="reset">${newPassword}<button>Set it</button></form>`,
    sends: `{
  async reset({ password }, token) {
    await call('api/auth/password/reset', { token, password })
    return 'Your password is set. You can sign in with it now.'
  },
}`,
  },
  '/invitation': {
    title: 'Join the team',
    body: `<form name="accept">${email}${password}<button>Sign in and join</button></form>`,
    sends: `{
  async accept(fields, token) {
    const { accessToken } = await call('api/auth/login', fields)
    await call('api/teams/invitations/accept', { token }, accessToken)
    return 'You are in the team.'
  },
}`,
  },
}

const style = `body { font: 1rem/1.5 system-ui, sans-serif; max-width: 24rem; margin: 4rem auto; padding: 0 1rem }
form, label { display: grid; gap: .25rem } form { gap: 1rem } details { margin-top: 1rem } summary { margin-bottom: .5rem }
input, button { font: inherit; padding: .5rem } [hidden] { display: none }
#said { min-height: 3rem }`

/**
 * Script of every page: submits a form once and shows the result. URLs are relative, because the gateway may run below a path of another
 * server.
 */
const program = ({ sends, begin = '' }: AccountPage) => `const call = async (path, body, token) => {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: 'Bearer ' + token }) }
  const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error.message)
  return answer.data
}
const said = document.getElementById('said')
const say = (text = '') => { said.textContent = text }
const query = new URLSearchParams(location.search)
const token = query.get('token') ?? ''
// Removes the token from the address, so that the browser history does not keep it.
history.replaceState(null, '', location.pathname)
const sends = ${sends}
for (const form of document.forms) form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const button = form.querySelector('button')
  button.disabled = true
  say()
  try {
    // A field may be called name too, which then is what form.name says.
    const done = await sends[form.getAttribute('name')](Object.fromEntries(new FormData(form)), token)
    say(done)
    form.reset()
    form.hidden = Boolean(done)
  } catch (error) {
    say(error.message)
  }
  button.disabled = false
})
${begin}`

/** Renders a page from its HTML and script, with headers that allow no other script. */
export type ShowHtml = (reply: FastifyReply, page: { title: string; head: string; body: string; program: string }) => FastifyReply

/** Registers the pages. Returns the methods of each path. */
export function mountAccountPages(http: FastifyInstance, app: App, show: ShowHtml): Map<string, Set<string>> {
  const account = accountPage(app.secrets.oidc?.id)
  // The payment provider redirects to `/billing`.
  const pages = { '/': account, '/billing': account, ...mailPages }
  for (const [path, page] of Object.entries(pages)) {
    const { title, body } = page
    http.get(path, async (_, reply) => {
      // The console has pages for these links.
      if (app.config.consoleUrl) return sendError(reply, 'NOT_FOUND')
      // Keeps the token in the URL from sites that the page links to.
      reply.header('Referrer-Policy', 'no-referrer')
      const html = `<h1>${title}</h1>\n${body}\n<p id="said" role="status"></p>\n<noscript>This page needs JavaScript.</noscript>`
      return show(reply, { title, head: `<style>${style}</style>`, body: html, program: program(page) })
    })
  }
  return new Map(Object.keys(pages).map((path) => [path, new Set(['GET'])]))
}
