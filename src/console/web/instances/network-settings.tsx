// The settings that each network takes, as fields of a form.
import type { ProviderName } from '../generated/instances/graphql.ts'
import { wholeIn } from '../send/input.ts'
import type { Issue } from '../session/auth-call.ts'
import { Choice, TextField } from '../ui/field.tsx'
import parts from '../ui/parts.module.css'
import { text } from './words.ts'

type CloudSetting = 'phoneNumberId' | 'businessAccountId' | 'accessToken' | 'appSecret' | 'verifyToken' | 'pin'

const ofCloud: readonly CloudSetting[] = ['phoneNumberId', 'businessAccountId', 'accessToken', 'appSecret', 'verifyToken', 'pin']
/** Those that are never shown again. */
const secrets: readonly CloudSetting[] = ['accessToken', 'appSecret', 'verifyToken', 'pin']

/** The settings of an instance, as the graph shows them. */
export interface Settings {
  businessAccountId?: string
  pace?: { minMs: number; maxMs: number }
  buttons?: string
  typing?: boolean
  markRead?: boolean
}

interface NetworkSettingsProps {
  network: ProviderName
  /** Those of an instance that exists. Its number identifies it, so it cannot be changed. Secrets that stay are left empty. */
  given?: Settings
  issues: readonly Issue[]
}

export function NetworkSettings({ network, given, issues }: NetworkSettingsProps) {
  if (network === 'cloud') {
    return ofCloud
      .filter((name) => !given || name !== 'phoneNumberId')
      .map((name) => (
        <TextField
          key={name}
          label={text.settings[name]}
          name={`settings.${name}`}
          type={secrets.includes(name) ? 'password' : 'text'}
          defaultValue={name === 'businessAccountId' ? given?.businessAccountId : undefined}
          autoComplete="off"
          hint={given ? secrets.includes(name) && text.settings.unchanged : name === 'verifyToken' && text.settings.made}
          issues={issues}
        />
      ))
  }
  return network === 'web' ? <WebSettings given={given} issues={issues} /> : null
}

function WebSettings({ given, issues }: Omit<NetworkSettingsProps, 'network'>) {
  const { pace = { minMs: 1_000, maxMs: 3_000 }, buttons = 'text', typing = false, markRead = false } = given ?? {}
  // A fault of both bounds together is shown at the first one.
  const placed = issues.map(({ path, message }) => ({ path: path === 'settings.pace' ? `${path}.minMs` : path, message }))
  const bound = (name: 'minMs' | 'maxMs') => (
    <TextField
      label={text.settings[name]}
      name={`settings.pace.${name}`}
      inputMode="numeric"
      autoComplete="off"
      defaultValue={pace[name]}
      issues={placed}
    />
  )
  const box = (name: 'typing' | 'markRead', checked: boolean) => (
    <label className={parts.row}>
      <input type="checkbox" name={`settings.${name}`} defaultChecked={checked} />
      {text.settings[name]}
    </label>
  )
  return (
    <>
      {bound('minMs')}
      {bound('maxMs')}
      <Choice label={text.settings.buttons} name="settings.buttons" defaultValue={buttons} issues={placed}>
        {(['text', 'native'] as const).map((kind) => (
          <option key={kind} value={kind}>
            {text.settings.buttonKinds[kind]}
          </option>
        ))}
      </Choice>
      {box('typing', typing)}
      {box('markRead', markRead)}
    </>
  )
}

/** The settings in a form; undefined for a network that has none. Fields of the cloud that are empty are left out. */
export function settingsIn(fields: FormData, network: ProviderName): object | undefined {
  const value = (name: string) => String(fields.get(`settings.${name}`) ?? '').trim()
  const number = (name: string) => (value(name) ? wholeIn(value(name)) : undefined)
  if (network === 'cloud') return Object.fromEntries(ofCloud.map((name) => [name, value(name)]).filter(([, given]) => given))
  if (network !== 'web') return undefined
  return {
    pace: { minMs: number('pace.minMs'), maxMs: number('pace.maxMs') },
    buttons: value('buttons'),
    typing: fields.has('settings.typing'),
    markRead: fields.has('settings.markRead'),
  }
}
