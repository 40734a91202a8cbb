// The table of message types: what every row must contain, and the content that its example produces.
import { describe, expect, it } from 'vitest'
import { MessageType } from '../../src/generated/prisma/enums.ts'
import { composeContent, messageExamples, rowOf, sendTypes, templateTypes } from '../../src/message-types/service.ts'

const contact = { id: '01980000-0000-7000-8000-000000000002', name: 'Ada Lovelace', phone: '+4915112345678' }
const examples = messageExamples({ contactId: contact.id })

it('has a row for each type that the database knows, except the type that is only inbound', () => {
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

  it('requires only fields that it has', () => {
    expect(Object.keys(fields)).toEqual(expect.arrayContaining([...required]))
  })

  it('has an example with only its own fields, including all required ones', () => {
    const given = Object.keys(examples[type].fields)
    expect(Object.keys(fields)).toEqual(expect.arrayContaining(given))
    expect(given).toEqual(expect.arrayContaining([...required]))
  })
})

it.each(templateTypes)('a template can hold all fields that %s requires', (type) => {
  expect(['text', 'mediaUrl']).toEqual(expect.arrayContaining([...rowOf(type).required]))
})

describe('the content for a provider', () => {
  const compose = (type: (typeof sendTypes)[number], more = {}) =>
    composeContent(type, { ...examples[type].fields, ...more }, contact)

  it('of a text is its body and nothing else', () => {
    const strange = { mediaUrl: 'https://example.com/a.png', latitude: 1 }
    expect(compose('text', strange)).toStrictEqual({ body: 'Hello', mediaUrl: null, content: null })
  })

  it('of a file has its caption, if it has one and its type allows it', () => {
    const mediaUrl = 'https://example.com/bill.pdf'
    expect(compose('document')).toStrictEqual({ body: 'Your bill', mediaUrl, content: null })
    expect(compose('document', { text: null })).toStrictEqual({ body: '', mediaUrl, content: null })
    expect(compose('voice_note', { text: 'ignored' })).toMatchObject({ body: '', content: null })
  })

  it('of a location has the name as its body', () => {
    const content = { kind: 'location', latitude: 52.5163, longitude: 13.3777, name: 'Brandenburg Gate', address: null }
    expect(compose('location')).toStrictEqual({ body: 'Brandenburg Gate', mediaUrl: null, content })
  })

  it('of a contact has the name as its body', () => {
    const content = { kind: 'contact', name: contact.name, phone: contact.phone }
    expect(compose('contact')).toStrictEqual({ body: contact.name, mediaUrl: null, content })
  })

  it('of buttons has the description as its body', () => {
    const { title, buttons, description } = examples.buttons.fields
    expect(compose('buttons')).toStrictEqual({
      body: description,
      mediaUrl: null,
      content: { kind: 'buttons', title, footer: null, buttons },
    })
  })
})
