// The settings that the gateway writes into the shell: its base path, and the ways to sign in.

interface Settings {
  /** The path that the gateway runs below, without a trailing slash; usually empty. */
  base: string
  /** The identity provider for single sign-on; null if there is none. */
  provider: string | null
  /** True if anybody may create an account. */
  signUp: boolean
}

function readSettings(): Settings {
  const text = document.querySelector<HTMLMetaElement>('meta[name=settings]')?.content ?? ''
  // The development server fills nothing in.
  return text.startsWith('{"') ? (JSON.parse(text) as Settings) : { base: '', provider: null, signUp: true }
}

export const settings = readSettings()
