// The instance of a page.
import type { InstanceQuery } from '../generated/instances/graphql.ts'

export type ShownInstance = NonNullable<InstanceQuery['instance']>
