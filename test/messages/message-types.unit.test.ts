// The table of message types: what every row must hold, and what its example becomes.
import { describe, expect, it } from 'vitest'
import { MessageType } from '../../src/generated/prisma/enums.ts'
import { composeContent, messageExamples, rowOf, sendTypes, templateTypes } from '../../src/message-types/service.ts'

const contact = { id: '01980000-0000-7000-8000-000000000002', name: 'Ada Lovelace', phone: '+4915112345678' }
const examples = messageExamples({ contactId: contact.id })

it('has a row for each type that the database knows, but for what only comes in', () => {
  expect([...sendTypes].sort()).toEqual(
    Object.values(MessageType)
      .filter((type) => type !== 'unknown')
      .sort(),
  )
})

it.each(['unknown', 'constructor', '__proto__', '', null, undefined, 5, ['text']])('has no row for %j', (type) => {
  expect(rowOf(type)).toBeUndefined()
})

describe.each(sendTypes)('the row of %s', (type) => {
  const { fields, required } = rowOf(type)

  it('requires fields of its own', () => {
    expect(Object.keys(fields)).toEqual(expect.arrayContaining([...required]))
  })

  it('has an example of its own fields, with those that it requires', () => {
    const given = Object.keys(examples[type].fields)
    expect(Object.keys(fields)).toEqual(expect.arrayContaining(given))
    expect(given).toEqual(expect.arrayContaining([...required]))
  })
})

it.each(templateTypes)('a template can hold all that %s requires', (type) => {
  expect(['text', 'mediaUrl']).toEqual(expect.arrayContaining([...rowOf(type).required]))
})

describe('of its fields a provider is handed', () => {
  const compose = (type: (typeof sendTypes)[number], more = {}) =>
    composeContent(type, { ...examples[type].fields, ...more }, contact)

  it('a text', () => {
    const strange = { mediaUrl: 'https://example.com/a.png', latitude: 1 }
    expect(compose('text', strange)).toStrictEqual({ body: 'Hello', mediaUrl: null, content: null })
  })

  it('a file with its caption, or without', () => {
    const mediaUrl = 'https://example.com/bill.pdf'
    expect(compose('document')).toStrictEqual({ body: 'Your bill', mediaUrl, content: null })
    expect(compose('document', { text: null })).toStrictEqual({ body: '', mediaUrl, content: null })
    expect(compose('voice_note', { text: 'ignored' })).toMatchObject({ body: '', content: null })
  })

  it('a place', () => {
    const content = { kind: 'location', latitude: 52.5163, longitude: 13.3777, name: 'Brandenburg Gate', address: null }
    expect(compose('location')).toStrictEqual({ body: 'Brandenburg Gate', mediaUrl: null, content })
  })

  it('a contact', () => {
    const content = { kind: 'contact', name: contact.name, phone: contact.phone }
    expect(compose('contact')).toStrictEqual({ body: contact.name, mediaUrl: null, content })
  })

  it('buttons', () => {
    const { title, buttons, description } = examples.buttons.fields
    expect(compose('buttons')).toStrictEqual({
      body: description,
      mediaUrl: null,
      content: { kind: 'buttons', title, footer: null, buttons },
    })
  })
})
