// The groups of the workspace, page by page.
import { type GroupRowFragment, GroupsDocument } from '../generated/contacts/graphql.ts'
import { type List, useList } from '../graph/use-list.ts'

export function useGroups(): List<GroupRowFragment> {
  return useList(
    GroupsDocument,
    {},
    (data) => data.contactGroups,
    ({ id }) => id,
  )
}
