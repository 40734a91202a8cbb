// API key form of the API reference and of GraphiQL. The key stays in sessionStorage until the browser tab closes. URLs are relative,
// because the gateway may run below a path of another server.

/** Finds the key, then calls `show(key, base)`. The key is '' if there is none; `base` is the base URL of the gateway. */
globalThis.withKey = async (show) => {
  const base = new URL('.', location.href).href
  const form = document.getElementById('key')
  const { key: field, mine, forget } = form.elements

  const say = (text) => {
    document.getElementById('said').textContent = text
  }
  const keep = (key) => {
    if (key) sessionStorage.setItem('gateway.key', key)
    else sessionStorage.removeItem('gateway.key')
  }
  const post = async (path, headers) => {
    const response = await fetch(base + path, { method: 'POST', headers })
    const answer = await response.json()
    if (!response.ok) throw new Error(answer.error.message)
    return answer.data
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault()
    keep(field.value.trim())
    location.reload()
  })
  forget.addEventListener('click', () => {
    keep('')
    location.reload()
  })
  mine.addEventListener('click', async () => {
    try {
      const { accessToken } = await post('api/auth/token', {}).catch(() => ({}))
      if (!accessToken) return say('You are not signed in in the console.')
      keep((await post('docs/key', { authorization: `Bearer ${accessToken}` })).key)
      location.reload()
    } catch (error) {
      say(error.message)
    }
  })

  const link = new URLSearchParams(location.hash.slice(1)).get('link')
  if (link) {
    // Removes the one-time link from the address, so that the browser history does not keep it.
    history.replaceState(null, '', location.pathname + location.search)
    try {
      keep((await post('docs/key', { 'x-link-token': link })).key)
    } catch (error) {
      say(error.message)
    }
  }
  const key = sessionStorage.getItem('gateway.key') ?? ''
  field.value = key
  forget.hidden = !key
  mine.hidden = Boolean(key)
  show(key, base)
}
