// The operator's command line: `npm run -s gateway -- COMMAND`. All commands but `copy-database` work with and without a running gateway.
import { Command, CommanderError } from 'commander'
import { listPendingCheckouts } from '../billing/service.ts'
import { readConfig } from '../core/config/config.ts'
import { sentenceOf } from '../core/sentence.ts'
import { addAccountCommands } from './accounts.ts'
import { addApiKeyCommands } from './api-keys.ts'
import { installSchema, openDatabase, withDatabase } from './command-database.ts'
import { json, printRows } from './command-parts.ts'
import { configTable } from './config-table.ts'
import { addCopyCommand } from './copy-command.ts'
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

addAccountCommands(gateway)

gateway
  .command('checkout')
  .description('orders of plans')
  .command('list')
  .description('list the open orders, oldest first; `account plan` confirms one')
  .addOption(json())
  .action(async (options: { json?: true }) => {
    const checkouts = await withDatabase(listPendingCheckouts)
    printRows(options.json, checkouts, (row) => [row.id, row.email, row.plan, row.provider, row.createdAt.toISOString()])
  })

addApiKeyCommands(gateway)
addInstanceCommands(gateway)
addTeamCommands(gateway)
addResealCommand(gateway)
addCopyCommand(gateway)

gateway
  .command('migrate')
  .description('apply the migrations that this version needs')
  .action(async () => {
    await using database = await openDatabase()
    const applied = await installSchema(database.directUrl)
    console.log(applied.length > 0 ? `applied ${applied.join(', ')}` : 'nothing to apply')
  })
gateway
  .command('doctor')
  .description(
    'check configuration, database, clock, providers, files, mail, Stripe, the identity provider and each connected number',
  )
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

if (import.meta.main) {
  // The reader of a pipe may exit early, as `head` does. The command still runs to its end, because it may be changing data.
  process.stdout.on('error', (error: Error & { code?: string }) => {
    if (error.code !== 'EPIPE') throw error
  })
  process.exitCode = await runCommand(process.argv.slice(2))
}
