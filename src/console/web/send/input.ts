// Turns the fields of the form into the input of the graph.
import type { SendType } from '../generated/send/graphql.ts'
import type { Sending } from '../messages/call-as-code.ts'

/** The choice of a form in place of a type. */
export const byTemplate = 'template'
export type FormType = SendType | typeof byTemplate

/** The names of the fields for values of a template begin with it. */
export const valuePrefix = 'variables.'

export interface Input extends Sending {
  type?: SendType
  templateId?: string
  variables?: Record<string, string>
  buttons?: { type: string; id: string; displayText: string }[]
}

/** The number that a field says. Another text is handed over as it stands, so that the gateway refuses it: JSON would make it null. */
export function numericIn(said: string): number {
  const number = said.trim() ? Number(said) : Number.NaN
  return Number.isFinite(number) ? number : (said as unknown as number)
}

/** The same for a whole number. `1.000` is a thousand to many readers, and one to `Number`, so it is handed over as it stands. */
export function wholeIn(said: string): number {
  return /^\s*-?\d+\s*$/.test(said) ? Number(said) : (said as unknown as number)
}

/** Empty fields are left out, so that the gateway says which of them it needs. */
export function inputOf(form: FormData, type: FormType): Input {
  const given = [...form].filter(([, value]) => value !== '') as [string, string][]
  const isValue = ([name]: [string, string]) => name.startsWith(valuePrefix)
  const variables = given.filter(isValue).map(([name, value]) => [name.slice(valuePrefix.length), value] as const)
  const fields: Record<string, string> = Object.fromEntries(given.filter((field) => !isValue(field)))
  const { buttons, latitude, longitude, instanceId = '', to = '', type: _, ...rest } = fields
  return {
    ...rest,
    instanceId,
    to: to.replaceAll(/[\s()-]/g, ''),
    ...(type !== byTemplate && { type }),
    ...(variables.length > 0 && { variables: Object.fromEntries(variables) }),
    ...(latitude && { latitude: numericIn(latitude) }),
    ...(longitude && { longitude: numericIn(longitude) }),
    ...(buttons && {
      buttons: buttons
        .split('\n')
        .filter((line) => line.trim())
        .map((line, n) => ({ type: 'reply', id: String(n + 1), displayText: line.trim() })),
    }),
  }
}

/**
 * The moment at which the clocks of a zone show that date and time, as ISO 8601. A time that they leave out when they go forward counts as one
 * of before: 02:30 is 03:30. Text that is no time is returned unchanged.
 */
export function momentIn(zone: string, local: string): string {
  const asUtc = Date.parse(`${local}Z`)
  if (Number.isNaN(asUtc)) return local
  // Twice, because the offset at the first guess may be that before a change of the clocks.
  const first = asUtc - offsetMs(zone, asUtc)
  const second = asUtc - offsetMs(zone, first)
  const isLeftOut = second + offsetMs(zone, second) !== asUtc
  return new Date(isLeftOut ? Math.max(first, second) : second).toISOString()
}

/** The date and time that the clocks of a zone show at a moment, as a field for them takes it; empty if it is no moment. */
export function localIn(zone: string, moment: string): string {
  const at = Date.parse(moment)
  return Number.isNaN(at) ? '' : new Date(at + offsetMs(zone, at)).toISOString().slice(0, 16)
}

/** The offset of a zone from UTC at a moment. */
function offsetMs(zone: string, at: number): number {
  const shown = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' }).format(at)
  return Date.parse(`${shown.replace(' ', 'T')}Z`) - Math.floor(at / 1000) * 1000
}
