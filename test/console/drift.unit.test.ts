// Proves that the console and the graph do not drift apart: a page uses each operation, unless there is a reason, and offers each type.
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { buildSchema, parse, TypeInfo, visit, visitWithTypeInfo } from 'graphql'
import { describe, expect, it } from 'vitest'
import { everyType, webhookEvents } from '../../src/console/web/graph/event-types.ts'
import { messageTypes, sendTypes } from '../../src/console/web/graph/message-types.ts'
import { advice } from '../../src/console/web/instances/advice-pt-br.ts'
import { eventDefinitions, liveDefinitions } from '../../src/event-types.ts'
import { MessageType } from '../../src/generated/prisma/enums.ts'
import { messageTypes as ofTheGateway } from '../../src/message-types/message-types.ts'

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

describe('each type of the gateway', () => {
  const typesOf = (definitions: typeof eventDefinitions) => definitions.map(({ type }) => type.replaceAll('.', '_'))

  it.each([
    ['messages that are sent', sendTypes, Object.keys(ofTheGateway)],
    ['messages of a list', messageTypes, Object.values(MessageType)],
    ['events of webhooks', webhookEvents, typesOf(eventDefinitions)],
    ['events of the log', everyType, typesOf([...eventDefinitions, ...liveDefinitions])],
  ])('of %s is one of the console', (_, offered, defined) => {
    expect(offered.toSorted()).toEqual(defined.toSorted())
  })
})

it('has each recommendation for an instance in Brazilian Portuguese', () => {
  const lines = readFileSync(path.join(root, 'src/instances/safety.ts'), 'utf8').split('\n')
  const sentences = lines.flatMap((line) => line.match(/'([A-Z][^']+: [^']+\.)'/)?.[1] ?? [])
  expect(sentences.length).toBeGreaterThan(5)
  expect(Object.keys(advice).toSorted()).toEqual(sentences.toSorted())
})
