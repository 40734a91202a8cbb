// The operator's commands for instances: list them, and pair one while its codes are shown here.
import { setTimeout as pause } from 'node:timers/promises'
import type { Command } from 'commander'
import type { App } from '../core/app.ts'
import { transaction } from '../core/database/transaction.ts'
import { fail } from '../core/errors.ts'
import { oneLine } from '../core/one-line.ts'
import { phone } from '../core/phone.ts'
import { parse, uuid } from '../core/validation.ts'
import type { Instance } from '../generated/prisma/client.ts'
import { findAnyInstance, listAllInstances } from '../instances/all.ts'
import { lockInstance } from '../instances/instances.sql.ts'
import { startConnecting } from '../instances/service.ts'
import { withApp, withDatabase } from './command-database.ts'
import { json, printRows } from './command-parts.ts'
import { qrLines } from './qr.ts'

/** Between two looks at the instance, in milliseconds. */
const pollMs = 500
/** Time without any news after which the absence of a worker is the likely cause. */
const silentMs = 15_000
/** Longest wait for a person with a phone. */
const pairingMs = 10 * 60_000

export function addInstanceCommands(gateway: Command): void {
  const instance = gateway.command('instance').description('instances: the connected phone accounts')
  instance
    .command('list')
    .description('list all instances')
    .addOption(json())
    .action(async (options: { json?: true }) => {
      const instances = await withDatabase(listAllInstances)
      printRows(options.json, instances, ({ id, name, owner, provider, waNumber, status, lastError }) => {
        return [id, name, owner, provider, waNumber ?? '-', status, ...(lastError ? [lastError] : [])]
      })
    })
  instance
    .command('pair')
    .description('connect an instance, show its QR code or pairing code here, and wait until it is connected')
    .requiredOption('--id <id>', 'id of the instance')
    .option('--phone <phone>', 'show a code for the phone with this number, in place of a QR code')
    .action(async (options: { id: string; phone?: string }) => {
      const id = parse(uuid, options.id, '--id')
      const number = options.phone === undefined ? undefined : parse(phone, options.phone, '--phone')
      await withApp((app) => pair(app, id, number, (line) => console.log(line)))
    })
}

type Said = Pick<Instance, 'status' | 'qr' | 'pairingCode' | 'lastError' | 'waNumber'>

/** @throws in words when the instance cannot be connected, or nobody pairs it in time. */
async function pair(app: App, id: string, number: string | undefined, say: (line: string) => void): Promise<void> {
  const { workspaceId, name } = (await findAnyInstance(app.db, id)) ?? fail('NOT_FOUND', 'There is no instance with this id')
  await transaction(app.db, async (tx) => {
    const instance = (await lockInstance(tx, workspaceId, id)) ?? fail('NOT_FOUND', 'There is no instance with this id')
    await startConnecting(app, tx, instance, number)
  })
  app.signals.emit('outbox')
  const end = Date.now() + pairingMs
  let said: Said | undefined
  let heardAt = Date.now()
  let warned = false
  while (Date.now() < end) {
    const now = (await findAnyInstance(app.db, id)) ?? fail('NOT_FOUND', 'The instance was deleted meanwhile')
    if (JSON.stringify(fieldsOf(now)) !== JSON.stringify(said)) {
      for (const line of newsOf(now, said)) say(line)
      said = fieldsOf(now)
      heardAt = Date.now()
    }
    if (sayIfConnected(now, say)) return
    if (!warned && now.status === 'connecting' && Date.now() - heardAt > silentMs) {
      say('no news yet: is a gateway with the role worker running on this database?')
      warned = true
    }
    await pause(pollMs)
  }
  throw new Error(`nobody paired ${name} within ${pairingMs / 60_000} minutes; run the command again`)
}

/** Returns true if the instance is connected. @throws in words when it cannot be paired any more. */
function sayIfConnected({ name, status, waNumber, lastError }: Instance, say: (line: string) => void): boolean {
  if (status === 'disconnected' || status === 'logged_out')
    throw new Error(`${name} is ${status}${lastError ? `: ${lastError}` : ''}`)
  if (status !== 'connected') return false
  say(`${oneLine(name)} is connected${waNumber ? ` as ${waNumber}` : ''}`)
  // Such as webhooks that were not subscribed: messages leave, but nobody reports on them.
  if (lastError) say(`but ${oneLine(lastError)}`)
  return true
}

function fieldsOf({ status, qr, pairingCode, lastError, waNumber }: Instance): Said {
  return { status, qr, pairingCode, lastError, waNumber }
}

/** Returns the changes since `before` as lines for the terminal. */
function newsOf(now: Instance, before: Said | undefined): string[] {
  const lines: string[] = []
  if (now.status !== before?.status && (now.status === 'connecting' || now.status === 'pairing')) lines.push(`${now.status} …`)
  if (now.pairingCode && now.pairingCode !== before?.pairingCode)
    lines.push(`pairing code: ${oneLine(now.pairingCode)} (on the phone: Linked devices, Link with phone number)`)
  if (now.qr && now.qr !== before?.qr) lines.push(...qrLines(now.qr), 'scan it on the phone: Linked devices, Link a device')
  if (now.lastError && now.lastError !== before?.lastError && now.status === 'connecting')
    lines.push(`not yet: ${oneLine(now.lastError)}`)
  return lines
}
