// Login of a paired device in PostgreSQL, sealed: credentials, and the keys of the Signal protocol.
import type { AuthenticationCreds, SignalDataSet, SignalDataTypeMap, SignalKeyStore } from 'baileys'
import type { App } from '../../core/app.ts'
import { type KeyRow, readCreds, readKeys, writeCreds, writeKeys } from './keys.sql.ts'
import { type Lease, LeaseLost } from './leases.sql.ts'
import type { WhatsApp } from './package.ts'
import { StoreFault } from './package-faults.ts'

/** Held by one process at a time. `isHeld` looks at the monotonic clock, so that a process that was suspended writes nothing. */
export interface HeldLease extends Lease {
  isHeld: () => boolean
}

export interface Login {
  creds: AuthenticationCreds
  keys: SignalKeyStore
  /** Saves the credentials, if they are of a paired device. Saves run one after another; resolves when the present state is stored. @throws LeaseLost. */
  save: () => Promise<void>
}

export class UnreadableLogin extends Error {
  override message = 'the stored login cannot be decrypted with SECRET_KEY'
}

/** Reads the login of an instance, or makes a new one, which is stored once it is paired. @throws UnreadableLogin. */
export async function openLogin(app: App, whatsApp: WhatsApp, lease: HeldLease): Promise<Login> {
  const sealed = await readCreds(app.pool, lease.instanceId)
  if (sealed && !app.sealer.tryOpen(sealed)) throw new UnreadableLogin()
  const creds = sealed ? openCreds(app, whatsApp, sealed) : whatsApp.initAuthCreds()
  let saving = Promise.resolve()
  return {
    creds,
    keys: createKeys(app, whatsApp, lease),
    save() {
      saving = saving
        .catch(() => {})
        .then(async () => {
          if (isPaired(creds)) await writeCreds(app.pool, lease, app.sealer.seal(textOf(whatsApp, creds)))
        })
      return saving
    },
  }
}

/** `creds.registered` is set by pairing with a code alone, and `me` by asking for a code. */
export function isPaired(creds: AuthenticationCreds): boolean {
  return Boolean(creds.me?.id && creds.account)
}

export function openCreds(app: App, whatsApp: WhatsApp, sealed: Buffer): AuthenticationCreds {
  return JSON.parse(app.sealer.open(sealed).toString(), whatsApp.BufferJSON.reviver) as AuthenticationCreds
}

function textOf({ BufferJSON }: WhatsApp, value: unknown): string {
  return JSON.stringify(value, BufferJSON.replacer)
}

function createKeys(app: App, whatsApp: WhatsApp, lease: HeldLease): SignalKeyStore {
  function revive<Type extends keyof SignalDataTypeMap>(type: Type, sealed: Buffer): SignalDataTypeMap[Type] {
    const value = JSON.parse(app.sealer.open(sealed).toString(), whatsApp.BufferJSON.reviver)
    return (
      type === 'app-state-sync-key' ? whatsApp.proto.Message.AppStateSyncKeyData.fromObject(value) : value
    ) as SignalDataTypeMap[Type]
  }
  return {
    async get(type, ids) {
      const found = await readKeys(app.pool, lease.instanceId, type, ids).catch(asFault)
      return Object.fromEntries([...found].map(([id, sealed]) => [id, revive(type, sealed)]))
    },
    async set(data: SignalDataSet) {
      const rows = Object.entries(data).flatMap(([type, values]) =>
        Object.entries(values ?? {}).map(([keyId, value]): KeyRow => {
          return { type, keyId, data: value == null ? null : app.sealer.seal(textOf(whatsApp, value)) }
        }),
      )
      if (rows.length > 0) await writeKeys(app.pool, lease, rows).catch(asFault)
    },
  }
}

/** The package leaves some of its calls unwatched; see package-faults.ts. */
function asFault(error: Error): never {
  throw error instanceof LeaseLost ? error : new StoreFault(error.message, { cause: error })
}

/** Keys that are kept in memory alone: for a connection that removes a device and does nothing else. */
export function passingKeys(): SignalKeyStore {
  return { get: async () => ({}), set: async () => {} }
}
