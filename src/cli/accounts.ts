// The operator's commands for accounts.
import { randomBytes } from 'node:crypto'
import { type Command, Option } from 'commander'
import { setOperator } from '../accounts/operator.ts'
import { createAccount, type ListedAccount, listAccounts, setPassword, verifyAccount } from '../accounts/service.ts'
import { consoleBase, makeSignInLink } from '../accounts/sign-in/link.ts'
import { type Plan, plans } from '../billing/plans.ts'
import { resumeAccount, setPlan, suspendAccount } from '../billing/service.ts'
import { readConfig } from '../core/config/config.ts'
import { endAccountOf } from '../teams/end-account.ts'
import { revokeInvitations } from '../teams/open-invitations.ts'
import { withApp, withDatabase } from './command-database.ts'
import { email, json, printFields, printRows } from './command-parts.ts'

const plan = () => new Option('--plan <plan>', 'plan of the account').choices(plans.map(({ code }) => code)).makeOptionMandatory()

export function addAccountCommands(gateway: Command): void {
  const account = gateway.command('account').description('accounts')
  account
    .command('create')
    .description('create a verified account with its first API key')
    .addOption(email())
    .requiredOption('--name <name>', 'name of the user')
    .addOption(plan())
    .option('--password <password>', 'password for the console; generated and printed if absent')
    .addOption(json())
    .action(async (options: { email: string; name: string; plan: string; password?: string; json?: true }) => {
      const password = options.password ?? randomBytes(15).toString('base64url')
      const made = await withDatabase((db) => createAccount(db, { ...options, password }))
      // Printed apart from the JSON, because other programs rely on its fields.
      if (!options.password) console.error(`password: ${password}`)
      printFields(options.json, made)
    })
  account
    .command('delete')
    .description('end an account: its sessions, keys, instances and teams at once, its data within a day')
    .addOption(email())
    .action(async (options: { email: string }) => {
      await withApp((app) => endAccountOf(app, options.email))
      console.log(`${options.email} is deleted`)
    })
  account
    .command('plan')
    .description('change the plan of an account and confirm its open order')
    .addOption(email())
    .addOption(plan())
    .action(async (options: { email: string; plan: Plan['code'] }) => {
      await withDatabase((db) => setPlan(db, options))
      console.log(`${options.email} is now on the plan ${options.plan}`)
    })
  account
    .command('suspend')
    .description('let an account create and send nothing; signing in and reading stay possible')
    .addOption(email())
    .action(async (options: { email: string }) => {
      await withDatabase((db) => suspendAccount(db, options))
      console.log(`${options.email} is suspended`)
    })
  account
    .command('resume')
    .description('end the suspension of an account')
    .addOption(email())
    .action(async (options: { email: string }) => {
      await withDatabase((db) => resumeAccount(db, options))
      console.log(`${options.email} is no longer suspended`)
    })
  account
    .command('link')
    .description('print a link that signs in to an account once, within ten minutes')
    .addOption(email())
    .action(async (options: { email: string }) => {
      const base = await consoleBase(readConfig().config)
      console.log(await withDatabase((db) => makeSignInLink(db, { email: options.email, base })))
    })
  account
    .command('operator')
    .description('let an account see the whole installation in the console, or no longer')
    .addOption(email())
    .option('--revoke', 'take it back')
    .action(async (options: { email: string; revoke?: true }) => {
      await withDatabase((db) => setOperator(db, { email: options.email, operator: !options.revoke }))
      console.log(`${options.email} is ${options.revoke ? 'no longer ' : ''}an operator`)
    })
  account
    .command('list')
    .description('list all accounts')
    .addOption(json())
    .action(async (options: { json?: true }) => {
      const accounts = await withDatabase(listAccounts)
      const columns = (row: ListedAccount) => [
        row.userId,
        row.email,
        row.plan ?? '-',
        row.status ?? '-',
        row.createdAt.toISOString(),
      ]
      printRows(options.json, accounts, columns)
    })
  account
    .command('password')
    .description('set a new password and end all sessions')
    .addOption(email())
    .option('--password <password>', 'the password; generated and printed if absent')
    .action(async (options: { email: string; password?: string }) => {
      const password = options.password ?? randomBytes(15).toString('base64url')
      await withDatabase((db) => setPassword(db, { email: options.email, password }))
      console.log(options.password ? `the password of ${options.email} was changed` : `password: ${password}`)
    })
  account
    .command('verify')
    .description('mark the e-mail address of an account as verified')
    .addOption(email())
    .action(async (options: { email: string }) => {
      await withDatabase((db) => verifyAccount(db, options, revokeInvitations))
      console.log(`${options.email} is verified`)
    })
}
