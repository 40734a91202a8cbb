// Settings of instances: validates what callers give, encrypts the secret ones at rest, and decrypts them for the provider.
import { z } from 'zod'
import { fail, invalid } from '../core/errors.ts'
import type { Sealer } from '../core/seal.ts'
import { faultsOf, parse } from '../core/validation.ts'

/** The settings of an instance as they are stored: `credentials` holds the secret ones, encrypted. */
export interface StoredSettings {
  settings: unknown
  /** Null if there are none. */
  credentials: Uint8Array<ArrayBuffer> | null
}

/** The secret settings, each with the operation that erases it. The deletion of an instance erases all of them. */
export type Secrets<Settings> = { readonly [Name in keyof Settings]?: 'logout' | 'deletion' }

/** `newLogin`: a secret of the login has another value than before. */
export interface ChangedSettings extends StoredSettings {
  newLogin: boolean
}

export interface SettingsStore<Settings> {
  /** Null is a setting that is left out. @throws VALIDATION_ERROR that names each wrong setting. */
  store: (given: Readonly<Values>) => StoredSettings
  /**
   * Replaces the given settings. Null clears one: it then has its default, if there is one. @throws VALIDATION_ERROR that names each
   * setting that is wrong, missing or part of the identity.
   */
  change: (stored: StoredSettings, given: Readonly<Values>) => ChangedSettings
  /**
   * All settings, with the defaults of this version. @throws PROVIDER_ERROR when the secrets cannot be decrypted; VALIDATION_ERROR
   * when a setting is missing, such as a secret that a logout erased.
   */
  open: (stored: StoredSettings) => Settings
  /** The settings that are there. Secrets that were erased or cannot be decrypted are left out. */
  openKnown: (stored: StoredSettings) => Partial<Settings>
  /** The secrets that a logout does not erase. Secrets that cannot be decrypted are erased. */
  afterLogout: (stored: StoredSettings) => StoredSettings['credentials']
}

type Values = Record<string, unknown>

function withoutNulls(values: Readonly<Values>): Values {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))
}

export function createSettingsStore<Settings extends object>(
  sealer: Sealer,
  schema: z.ZodType<Settings>,
  secrets: Secrets<Settings>,
  identity?: string,
): SettingsStore<Settings> {
  // The wrapping object puts `settings.` before the name of a setting in error messages.
  const form = z.object({ settings: schema })
  const validate = (settings: unknown) => parse(form, { settings }).settings
  const erasedBy = new Map<string, unknown>(Object.entries(secrets))

  function seal(values: [string, unknown][]): StoredSettings['credentials'] {
    return values.length > 0 ? sealer.seal(JSON.stringify(Object.fromEntries(values))) : null
  }

  /** Undefined if they were encrypted under another SECRET_KEY. */
  function unseal({ credentials }: StoredSettings): Values | undefined {
    if (!credentials) return {}
    const opened = sealer.tryOpen(credentials)
    return opened && (JSON.parse(opened.toString()) as Values)
  }

  function known(stored: StoredSettings): Values {
    return { ...(stored.settings as Values), ...unseal(stored) }
  }

  function split(settings: Settings): StoredSettings {
    const values = Object.entries(settings).filter(([, value]) => value !== undefined)
    return {
      settings: Object.fromEntries(values.filter(([name]) => !erasedBy.has(name))),
      credentials: seal(values.filter(([name]) => erasedBy.has(name))),
    }
  }

  return {
    store: (given) => split(validate(withoutNulls(given))),
    change(stored, given) {
      const before = known(stored)
      const result = form.safeParse({ settings: withoutNulls({ ...before, ...given }) })
      const isOther = identity && given[identity] !== undefined && given[identity] !== before[identity]
      const faults = isOther ? [{ path: `settings.${identity}`, message: 'cannot be changed' }] : []
      if (!result.success) faults.push(...faultsOf(result.error))
      if (!result.success || faults.length > 0) throw invalid(faults)
      const { settings } = result.data
      const isNew = ([name, value]: [string, unknown]) => erasedBy.get(name) === 'logout' && value !== before[name]
      return { ...split(settings), newLogin: Object.entries(settings).some(isNew) }
    },
    open(stored) {
      const opened = unseal(stored) ?? fail('PROVIDER_ERROR', 'The secrets of this instance cannot be decrypted on this server')
      return validate({ ...(stored.settings as Values), ...opened })
    },
    openKnown: (stored) => known(stored) as Partial<Settings>,
    afterLogout: (stored) => seal(Object.entries(unseal(stored) ?? {}).filter(([name]) => erasedBy.get(name) === 'deletion')),
  }
}
