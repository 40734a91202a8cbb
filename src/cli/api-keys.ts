// The operator's commands for API keys.
import { type Command, Option } from 'commander'
import { createApiKey, listKeysOf, revokeApiKey } from '../accounts/keys/api-keys.ts'
import { KeyAccess } from '../generated/prisma/enums.ts'
import { withDatabase } from './command-database.ts'
import { email, json, printFields, printRows } from './command-parts.ts'

export function addApiKeyCommands(gateway: Command): void {
  const apiKey = gateway.command('api-key').description('API keys')
  apiKey
    .command('create')
    .description('create another key for an account, even above the limit of its plan')
    .addOption(email())
    .requiredOption('--name <name>', 'purpose of the key')
    .addOption(new Option('--access <access>', 'what the key may do').choices(Object.values(KeyAccess)).default(KeyAccess.full))
    .addOption(json())
    .action(async (options: { email: string; name: string; access: KeyAccess; json?: true }) => {
      const { id, name, prefix, access, key } = await withDatabase((db) => createApiKey(db, options))
      printFields(options.json, { id, name, prefix, access, apiKey: key })
    })
  apiKey
    .command('list')
    .description('list the active keys of an account')
    .addOption(email())
    .addOption(json())
    .action(async (options: { email: string; json?: true }) => {
      const keys = await withDatabase((db) => listKeysOf(db, options.email))
      printRows(options.json, keys, ({ id, prefix, name, access, createdAt, lastUsedAt }) => {
        return [id, prefix, name, access, createdAt.toISOString(), lastUsedAt?.toISOString() ?? 'never used']
      })
    })
  apiKey
    .command('revoke')
    .description('revoke a key; it is refused from the next request on')
    .requiredOption('--id <id>', 'id of the key')
    .action(async (options: { id: string }) => {
      await withDatabase((db) => revokeApiKey(db, options.id))
      console.log(`${options.id} is revoked`)
    })
}
