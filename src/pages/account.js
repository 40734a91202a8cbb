// Script of the account pages: submits their forms to the API and shows the results. URLs are relative, because the gateway may run below
// a path of another server.

const query = new URLSearchParams(location.search)
const token = query.get('token') ?? ''
// Removes the token from the address, so that the browser history does not keep it.
history.replaceState(null, '', location.pathname)

const element = (id) => document.getElementById(id)

const say = (text = '') => {
  element('said').textContent = text
}

const call = async (path, body, accessToken) => {
  const headers = { 'content-type': 'application/json', ...(accessToken && { authorization: `Bearer ${accessToken}` }) }
  const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error.message)
  return answer.data
}

/** One function for each form, by its name. The text that it returns replaces the form. */
const submit = {
  async enter(fields) {
    await call('api/auth/login', fields)
    await showAccount()
  },
  async leave() {
    await call('api/auth/logout', {})
    await showAccount()
  },
  async forgot(fields) {
    await call('api/auth/password/forgot', fields)
    return 'If an account with this address exists, we have sent a mail to it.'
  },
  async join(fields) {
    await call('api/auth/signup', fields)
    return 'We have sent you a mail. Open the link in it to activate your account.'
  },
  async verify(fields) {
    await call('api/auth/verify-email', { token, ...fields })
    return 'Your address is verified. You can sign in now.'
  },
  async reset({ password }) {
    await call('api/auth/password/reset', { token, password })
    return 'Your password is set. You can sign in with it now.'
  },
  async accept(fields) {
    const { accessToken } = await call('api/auth/login', fields)
    await call('api/teams/invitations/accept', { token }, accessToken)
    return 'You have joined the team.'
  },
}

for (const form of document.forms) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const button = form.querySelector('button')
    button.disabled = true
    say()
    try {
      // Not `form.name`, which is the field called `name` if the form has one.
      const done = await submit[form.getAttribute('name')](Object.fromEntries(new FormData(form)))
      say(done)
      form.reset()
      form.hidden = Boolean(done)
    } catch (error) {
      say(error.message)
    }
    button.disabled = false
  })
}

const reasons = {
  access_denied: 'the identity provider denied access',
  account_not_linked: 'your e-mail address belongs to an account that this sign-in cannot use; sign in with its password',
  email_not_valid: 'the identity provider returned no valid e-mail address',
  email_not_verified: 'the identity provider has not verified your e-mail address',
}

const orders = {
  completed: 'Thank you. Your order is complete. Your new plan appears here in a moment.',
  cancelled: 'The order was cancelled.',
}

/** The page shows its own texts only, never text from the address, because anybody can write a link. */
const textFor = (texts, code) => (Object.hasOwn(texts, code) ? texts[code] : undefined)

const planText = ({ plan, status, currentPeriodEnd }) => {
  if (status === 'active') return plan.name
  return `${plan.name}, ${status === 'cancelled' ? `until ${currentPeriodEnd.slice(0, 10)}` : status.replace('_', ' ')}`
}

/** Shows the account or the sign-in. The session cookie is HttpOnly, so only a request shows whether the user is signed in. */
async function showAccount() {
  const { accessToken } = await call('api/auth/token', {}).catch(() => ({}))
  const query = '{ me { email } subscription { plan { name } status currentPeriodEnd } }'
  const { me, subscription } = accessToken ? await call('graphql', { query }, accessToken) : {}
  element('who').textContent = me ? me.email : ''
  element('plan').textContent = me ? planText(subscription) : ''
  element('in').hidden = !me
  element('out').hidden = Boolean(me)
}

/** Starts the account page, which alone has settings: the id of the identity provider, if one is configured. */
function startAccountPage({ provider }) {
  if (provider) {
    const link = document.createElement('a')
    link.href = `api/auth/oauth/${encodeURIComponent(provider)}`
    link.textContent = `Sign in with ${provider}`
    element('sso').append(link)
  }
  say(textFor(orders, query.get('checkout')))
  const reason = textFor(reasons, query.get('error'))
  if (query.has('error')) say(`Sign-in failed${reason ? `: ${reason}` : ''}.`)
  showAccount().catch(({ message }) => say(message))
}

const { settings } = document.body.dataset
if (settings) startAccountPage(JSON.parse(settings))
