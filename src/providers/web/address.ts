// Addresses of numbers on the network.
import type { App } from '../../core/app.ts'
import { readAddress } from './numbers.sql.ts'

const phoneServer = '@s.whatsapp.net'

/** Address of a number, E.164, as it is written. */
export function jidOf(phone: string): string {
  return `${phone.replace('+', '')}${phoneServer}`
}

/**
 * Address of a number to which messages are sent. The network may write the number with other digits: Brazil, Mexico and Argentina. It
 * takes a message to the digits that the caller wrote, and may deliver it to nobody.
 */
export async function addressOf(app: App, instanceId: string, phone: string): Promise<string> {
  return jidOf((await readAddress(app.pool, instanceId, phone)) ?? phone)
}

/** The part of an address that names the user: digits, for the address of a number. */
export function userOf(jid: string): string {
  return jid.split(/[:@]/)[0] as string
}

/** The number of an address, E.164; undefined if it is no address of a number. */
export function phoneOf(jid: string): string | undefined {
  return jid.endsWith(phoneServer) ? `+${userOf(jid)}` : undefined
}
