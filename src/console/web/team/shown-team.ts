// The team of a page.
import type { TeamPageQuery } from '../generated/team/graphql.ts'

export type ShownTeam = NonNullable<TeamPageQuery['team']>
