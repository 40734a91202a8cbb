// The settings that the gateway writes into the shell: its base path, and the ways to sign in.

interface Settings {
  /** The path that the gateway runs below, without a trailing slash; usually empty. */
  base: string
  /** The identity provider for single sign-on; null if there is none. */
  provider: string | null
  /** True if anybody may create an account. */
  signUp: boolean
  /** The build that this page is of; null while it is developed. */
  build: string | null
}

function readSettings(): Settings {
  const text = document.querySelector<HTMLMetaElement>('meta[name=settings]')?.content ?? ''
  // The development server fills nothing in.
  return text.startsWith('{"') ? (JSON.parse(text) as Settings) : { base: '', provider: null, signUp: true, build: null }
}

export const settings = readSettings()

/** True once the gateway has named another build than that of this page. */
export let isOutdated = false

/** Notes the build that an answer names. */
export function noteBuild({ headers }: Response): void {
  const build = headers.get('x-console-build')
  if (build && settings.build) isOutdated = build !== settings.build
}
