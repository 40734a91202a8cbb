// The operator's command line: `npm run -s gateway -- COMMAND`. Works with and without a running gateway.
import { randomBytes } from 'node:crypto'
import { Command, CommanderError, Option } from 'commander'
import { PgBoss } from 'pg-boss'
import { userIdOf } from '../accounts/find-user.ts'
import { setOperator } from '../accounts/operator.ts'
import { createAccount, listAccounts, setPassword, verifyAccount } from '../accounts/service.ts'
import { consoleBase, makeSignInLink } from '../accounts/sign-in/link.ts'
import { type Plan, plans } from '../billing/plans.ts'
import { listPendingCheckouts, resumeAccount, setPlan, suspendAccount } from '../billing/service.ts'
import { readConfig } from '../core/config/config.ts'
import { migrate } from '../core/database/migrate.ts'
import { jsonLine, lineOf, oneLine } from '../core/one-line.ts'
import { sentenceOf } from '../core/sentence.ts'
import { endAccount } from '../teams/end-account.ts'
import { revokeInvitations } from '../teams/open-invitations.ts'
import { addApiKeyCommands } from './api-keys.ts'
import { openDatabase, withApp, withDatabase } from './command-database.ts'
import { configTable } from './config-table.ts'
import { draftMigration } from './draft-migration.ts'
import { addInstanceCommands } from './instances.ts'
import { printable, printed } from './print/print.ts'
import { addResealCommand } from './reseal-command.ts'
import { addTeamCommands } from './teams.ts'

const gateway = new Command('gateway')
  .description('Operates the messaging gateway')
  .exitOverride()
  .configureOutput({
    writeOut: (text) => console.log(text.replace(/\n$/, '')),
    writeErr: (text) => console.error(text.replace(/\n$/, '')),
    outputError: (text, write) => write(text.replace(/^error: /, '')),
  })
const plan = () => new Option('--plan <plan>', 'plan of the account').choices(plans.map(({ code }) => code)).makeOptionMandatory()
const email = () => new Option('--email <email>', 'e-mail address of the account').makeOptionMandatory()
const json = () => new Option('--json', 'print JSON')

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
    print(options.json, made)
  })
account
  .command('delete')
  .description('end an account: its sessions, keys, instances and teams at once, its data within a day')
  .addOption(email())
  .action(async (options: { email: string }) => {
    await withApp(async (app) => endAccount(app, await userIdOf(app.db, options.email)))
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
    if (options.json) console.log(jsonLine(accounts))
    else
      for (const row of accounts)
        console.log(lineOf([row.userId, row.email, row.plan ?? '-', row.status ?? '-', row.createdAt.toISOString()]))
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

gateway
  .command('checkout')
  .description('orders of plans')
  .command('list')
  .description('list the open orders, oldest first; `account plan` confirms one')
  .addOption(json())
  .action(async (options: { json?: true }) => {
    const checkouts = await withDatabase(listPendingCheckouts)
    if (options.json) console.log(jsonLine(checkouts))
    else
      for (const row of checkouts) console.log(lineOf([row.id, row.email, row.plan, row.provider, row.createdAt.toISOString()]))
  })

addApiKeyCommands(gateway, print)
addInstanceCommands(gateway)
addTeamCommands(gateway, print)
addResealCommand(gateway)

gateway
  .command('migrate')
  .description('apply the migrations that this version needs')
  .action(async () => {
    await using database = await openDatabase()
    const applied = await migrate(database.directUrl, console.error)
    const boss = new PgBoss({ connectionString: database.directUrl, supervise: false, schedule: false })
    await boss.start()
    await boss.stop({ graceful: false })
    console.log(applied.length > 0 ? `applied ${applied.join(', ')}` : 'nothing to apply')
  })
gateway
  .command('doctor')
  .description('check configuration, database, clock, providers, files, mail, the identity provider and each connected number')
  .action(async () => {
    // Loaded only here: the other commands do not need these modules.
    const [{ doctor }, { boundFetch }] = await Promise.all([import('./doctor.ts'), import('../core/network/outbound.ts')])
    boundFetch()
    await using database = await openDatabase()
    if (!(await doctor(database, console.log))) throw new CommanderError(1, 'gateway.doctor', 'a check failed')
  })
gateway
  .command('config')
  .description(
    'print every environment variable, its default and its meaning, as a Markdown table; NAME_FILE names a file with the value of NAME',
  )
  .action(() => console.log(configTable()))
const toPrint = gateway.command('print').description('print a file for this installation')
for (const [file, description] of Object.entries(printable)) {
  toPrint
    .command(file)
    .description(description)
    .action(async () => console.log(await printed(file, readConfig().config)))
}
gateway
  .command('draft-migration <name>', { hidden: true })
  .description('for developers: write a migration from the changes in prisma/schema')
  .action(async (name: string) => {
    await using database = await openDatabase()
    const folder = await draftMigration(database.directUrl, name)
    console.log(folder ? `wrote prisma/migrations/${folder}` : 'nothing has changed')
  })

function print(asJson: true | undefined, fields: object): void {
  if (asJson) console.log(jsonLine(fields))
  else for (const [name, value] of Object.entries(fields)) console.log(`${name}: ${oneLine(String(value))}`)
}

/** Runs one command, for example `['account', 'list']`; returns its exit code. Reads the environment and prints to the console. */
export async function runCommand(args: readonly string[]): Promise<number> {
  try {
    await gateway.parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    // The reason of this one is printed already.
    if (error instanceof CommanderError) return error.exitCode
    console.error(sentenceOf(error))
    return 1
  }
}

if (import.meta.main) process.exitCode = await runCommand(process.argv.slice(2))
