// The API key form above the API explorer pages. It keeps the key in sessionStorage, until the browser tab closes.
import { linkName } from '../demo/demo.ts'
import { linkHeader } from '../demo/links.ts'

export const keyStyle = `body { margin: 0; display: flex; flex-direction: column; height: 100vh }
#key { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; padding: .5rem 1rem; font: .875rem system-ui, sans-serif; border-bottom: 1px solid #8884 }
#key input { font: inherit; padding: .25rem .5rem; width: 20rem; max-width: 60vw; -webkit-text-security: disc }
#key button { font: inherit; padding: .25rem .75rem } #key [hidden] { display: none }
#root { flex: 1; min-height: 0; overflow: auto; position: relative }`

/** Not a password field, because browsers offer to save passwords. */
export const keyForm = `<form id="key" autocomplete="off">
<label>API key <input name="key" placeholder="svc_live_…" autocomplete="off" autocapitalize="off" spellcheck="false" data-1p-ignore></label>
<button>Use it</button>
<button type="button" name="mine">I am signed in</button>
<button type="button" name="forget" hidden>Forget it</button>
<span id="said" role="status"></span>
</form>`

/**
 * JavaScript that finds the key and calls `begin(key)`; the key is '' if there is none. It also defines `settings`, the settings of the
 * page. URLs are relative, because the gateway may run below a path of another server.
 */
export const keyProgram = `const settings = JSON.parse(document.getElementById('settings').textContent)
const base = new URL('.', location.href).href
const form = document.getElementById('key')
const { key: field, mine, forget } = form.elements
const say = (text) => { document.getElementById('said').textContent = text }
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
const link = new URLSearchParams(location.hash.slice(1)).get('${linkName}')
// Removes the one-time link from the address, so that the browser history does not keep it.
if (link) history.replaceState(null, '', location.pathname + location.search)
const find = async () => {
  if (link) {
    try {
      keep((await post('docs/key', { '${linkHeader}': link })).key)
    } catch (error) {
      say(error.message)
    }
  }
  return sessionStorage.getItem('gateway.key') ?? ''
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
    if (!accessToken) return say('Nobody is signed in on these pages.')
    keep((await post('docs/key', { authorization: 'Bearer ' + accessToken })).key)
    location.reload()
  } catch (error) {
    say(error.message)
  }
})
find().then((key) => {
  field.value = key
  forget.hidden = !key
  mine.hidden = Boolean(key)
  begin(key)
})`
