// Everything a test needs, in one import.
export { type Account, connectedInstance, createAccount, type InstanceOptions, type TestInstance } from './accounts.ts'
export { type Answer, type Api, api } from './api.ts'
export { atEnd } from './at-end.ts'
export { type CommandResult, command } from './command.ts'
export { cloneDatabase, type OwnServer, ownServer, sql } from './database.ts'
export {
  type Exit,
  environment,
  type Gateway,
  type GatewayOptions,
  node,
  type Running,
  root,
  secretKey,
  spawnGateway,
  startGateway,
  watch,
} from './gateway.ts'
export { holdingsOf, inspectable } from './holdings.ts'
export type { Holdings } from './inside.ts'
export { type PromptOptions, promptly } from './promptly.ts'
export { until } from './until.ts'
