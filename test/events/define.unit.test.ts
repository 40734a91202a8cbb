// Every event type has a name of its own, and a sample that its payload schema accepts.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { eventDefinitions, sampleEvent } from '../../src/event-types.ts'
import { defineEvent } from '../../src/events/log/define.ts'

describe.each(eventDefinitions)('$type', ({ type, payload, sample }) => {
  it('has a sample with exactly the fields of its payload', () => {
    expect(payload.strict().parse(sample)).toEqual(sample)
  })

  it('has a name of two words, which GraphQL spells with an underscore', () => {
    expect(type).toMatch(/^[a-z]+\.[a-z]+$/)
    expect(eventDefinitions.filter((other) => other.type === type)).toHaveLength(1)
  })

  it('is delivered as a test with the fields of a real one, and a mark', () => {
    const at = new Date()
    const expected = { id: 'x', event: type, test: true, ...sample, timestamp: at.toISOString() }
    expect(JSON.stringify(sampleEvent(type, 'x', at))).toBe(JSON.stringify(expected))
  })
})

it('an event need not belong to an instance', () => {
  const definition = defineEvent({
    type: 'team.renamed',
    summary: 'A team got another name',
    payload: z.object({ name: z.string() }),
    subject: () => ({}),
    sample: { name: 'Support' },
  })
  const at = new Date()
  const event = definition.event({ name: 'Sales' }, { workspaceId: 'w', at })
  expect(event).toEqual({ type: 'team.renamed', fields: { name: 'Sales' }, workspaceId: 'w', at })
})
