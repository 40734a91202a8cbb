// Proves that the console and the graph do not drift apart: each operation is used by a page, or is not of the console for a reason.
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { buildSchema, parse, TypeInfo, visit, visitWithTypeInfo } from 'graphql'
import { describe, expect, it } from 'vitest'

const root = path.join(import.meta.dirname, '../..')
const schema = buildSchema(readFileSync(path.join(root, 'src/schema.graphql'), 'utf8'))
const documents = globSync('src/console/web/*/*.graphql', { cwd: root }).map((file) =>
  readFileSync(path.join(root, file), 'utf8'),
)

/** Operations that no page needs, with the reason. */
const notOfTheConsole: Record<string, string> = {
  'Query.bulkJobs': 'a page follows the job that it started',
  'Query.contactKeys': 'a template names its keys itself',
  'Query.conversations': 'the page of a contact has its conversation',
  'Query.history': 'the page of a contact has its conversation, and the list of messages filters by number',
  'Query.webhookRedelivery': 'the endpoint has its last redelivery',
  'Query.media': 'a message has its file',
  'Query.retentionSettings': 'decided once for a workspace, by the program that sets it up',
  'Mutation.updateRetentionSettings': 'decided once for a workspace, by the program that sets it up',
  'Mutation.importCloudTemplates': 'a program keeps templates and their approvals in step',
  'Mutation.bulkDeleteContacts': 'a program that replaces a whole address book',
  'Mutation.deleteMedia': 'a file goes with its message, or by retention',
  'Mutation.importSuppressions': 'a program that moves from another service',
  'Mutation.lookupNumbers': 'a program that cleans its numbers',
  'Mutation.markRead': 'a program that shows a conversation decides what was read',
  'Mutation.sendMessages': 'a program; people start a campaign',
  'Subscription.bulkJob': 'an import is asked for every two seconds, so that no page holds a second stream',
  'Subscription.instances': 'the event log says what changes, and no page holds a second stream',
  'Subscription.instanceState': 'codes are asked for every two seconds, so that no page holds a second stream',
  'Subscription.webhookRedelivery': 'asked for every two seconds, so that no page holds a second stream',
}

function usedFields(): Set<string> {
  const used = new Set<string>()
  for (const text of documents) {
    const types = new TypeInfo(schema)
    visit(
      parse(text),
      visitWithTypeInfo(types, {
        Field: ({ name }) => void used.add(`${types.getParentType()?.name}.${name.value}`),
      }),
    )
  }
  return used
}

const operations = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap((type) =>
  Object.keys(type?.getFields() ?? {}).map((field) => `${type?.name}.${field}`),
)

describe('each operation of the graph', () => {
  const used = usedFields()

  it('is used by a page, or listed as not of the console', () => {
    expect(operations.filter((name) => !used.has(name) && !notOfTheConsole[name])).toEqual([])
  })

  it('that is listed exists, and no page uses it', () => {
    expect(Object.keys(notOfTheConsole).filter((name) => used.has(name) || !operations.includes(name))).toEqual([])
  })
})
