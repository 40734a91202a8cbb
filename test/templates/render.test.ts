// Template bodies: which placeholders are valid, and how they are rendered.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codeOf } from '../../src/core/errors.ts'
import { compileTemplate, contactFields, type Values } from '../../src/templates/render.ts'
import { promptly } from '../kit/promptly.ts'

const contact = { name: 'Ada Lovelace', firstName: 'Ada', lastName: null, phone: '+393331234567', email: '' }

function render(body: string, values: Partial<Values> = {}) {
  return compileTemplate(body).render({ contact, custom: [], ...values })
}

/** The message of the refusal of a body. */
function refusal(body: string): string {
  try {
    compileTemplate(body)
  } catch (error) {
    expect(codeOf(error)).toBe('TEMPLATE_INVALID')
    return (error as Error).message
  }
  throw new Error(`${body} was taken`)
}

describe('a placeholder', () => {
  it.each<[body: string, custom: Record<string, string>, rendered: string]>([
    ['Hi {{contact.firstName}}', {}, 'Hi Ada'],
    ['{{ contact.phone }}', {}, '+393331234567'],
    ['{{\n\tcontact.name\n}}', {}, 'Ada Lovelace'],
    ['{{custom.order}}/{{custom.order}}', { order: '7' }, '7/7'],
    ['{{custom.Größe}} {{custom.order-no_1}}', { Größe: 'L', 'order-no_1': '8' }, 'L 8'],
    ['[{{custom.empty}}]', { empty: '' }, '[]'],
    ['{{contact.name}}}', {}, 'Ada Lovelace}'],
    ['{ {contact.name} }', {}, '{ {contact.name} }'],
    ['100 %} and $\u007b7*7} <%= 7 %>', {}, '100 %} and $\u007b7*7} <%= 7 %>'],
    ['{{custom.a-}} {{custom.-a}}', { 'a-': '1', '-a': '2' }, '1 2'],
    ['', {}, ''],
  ])('%j is filled in', (body, custom, rendered) => {
    expect(render(body, { custom: [custom] })).toEqual({ body: rendered, missing: [] })
  })

  it('without a value stays as written and is named once', () => {
    expect(render('{{ custom.order }} {{contact.lastName}} {{custom.order}}')).toEqual({
      body: '{{ custom.order }} {{contact.lastName}} {{custom.order}}',
      missing: ['custom.order', 'contact.lastName'],
    })
    expect(render('{{contact.name}}', { contact: null })).toEqual({ body: '{{contact.name}}', missing: ['contact.name'] })
  })

  it('falls back to its default text, where it has one', () => {
    expect(render('{{contact.lastName | default: "you"}}')).toEqual({ body: 'you', missing: [] })
    expect(render('{{custom.a|default:\'say "}}" \'}}')).toEqual({ body: 'say "}}" ', missing: [] })
    expect(render('{{contact.email | default: "none"}}{{custom.a | default: ""}}')).toEqual({ body: 'none', missing: [] })
    expect(render('{{contact.firstName | default: "you"}}')).toEqual({ body: 'Ada', missing: [] })
  })

  it('takes the value of the first source that has one', () => {
    const custom = [{ a: '1' }, null, undefined, { a: '2', b: '3' }]
    expect(render('{{custom.a}}{{custom.b}}', { custom }).body).toBe('13')
  })

  it('inserts values as text and never parses them again', () => {
    const custom = [{ a: '{{contact.phone}}', b: '{% if 1 %}', c: '{{', d: '}}' }]
    expect(render('{{custom.a}} {{custom.b}} {{custom.c}}custom.a{{custom.d}}', { custom })).toEqual({
      body: '{{contact.phone}} {% if 1 %} {{custom.a}}',
      missing: [],
    })
  })

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'prototype', 'length', 'size'])(
    'custom.%s reads own properties only',
    (key) => {
      const inherited = Object.create({ [key]: 'inherited' })
      expect(render(`{{custom.${key}}}`, { custom: [{}, inherited] }).missing).toEqual([`custom.${key}`])
      const own = JSON.parse(`{"${key}":"own"}`)
      expect(render(`{{custom.${key}}}`, { custom: [{}, own] })).toEqual({ body: 'own', missing: [] })
    },
  )

  it('accepts only strings as values', () => {
    const custom = [{ a: 1, b: null, c: { d: 'x' }, e: ['x'], f: () => 'x' }]
    expect(render('{{custom.a}}{{custom.b}}{{custom.c}}{{custom.e}}{{custom.f}}', { custom }).missing).toHaveLength(5)
  })
})

describe('a body is refused', () => {
  it.each([
    ['{{contact.name', /not closed/],
    ['Hello {{', /not closed/],
    ['{{contact.name}', /not closed/],
    ['{{custom.a | default: "x}}', /not closed/],
    ['name}}', /}} has no {{ before it/],
    ['{{contact.name}}}}', /}} has no {{ before it/],
    ['{{contact.name} and {{custom.a}}', / is not {{contact/],
    ['{{{contact.name}}}', / is not {{contact/],
    ['{{}}', / is not {{contact/],
    ['{{ }}', / is not {{contact/],
    ['{{contact}}', / is not {{contact/],
    ['{{custom}}', / is not {{contact/],
    ['{{custom.}}', / is not {{contact/],
    ['{{contact.name.}}', / is not {{contact/],
    ['{{.name}}', / is not {{contact/],
    ['{{contact .name}}', / is not {{contact/],
    ['{{contact.name custom.a}}', / is not {{contact/],
    ['{{order}}', / is not {{contact/],
    ['{{user.name}}', / is not {{contact/],
    ['{{Contact.name}}', / is not {{contact/],
    ['{{contact.custom.a}}', / is not {{contact/],
    ['{{custom.a.b}}', / is not {{contact/],
    ['{{custom["a"]}}', / is not {{contact/],
    ['{{custom[contact.name]}}', / is not {{contact/],
    ['{{contact["name"]}}', / is not {{contact/],
    ['{{"text"}}', / is not {{contact/],
    ['{{7}}', / is not {{contact/],
    ['{{(1..9)}}', / is not {{contact/],
    ['{{nil}}', / is not {{contact/],
    ['{{contact.name == "x"}}', / is not {{contact/],
    ['{{- contact.name -}}', / is not {{contact/],
    ['{{#each}}', / is not {{contact/],
    ['{{> partial}}', / is not {{contact/],
    ['{{constructor.constructor("return process")()}}', / is not {{contact/],
    ['{{contact.__proto__.x}}', / is not {{contact/],
    ['{{contact.nick}}', /is unknown; a contact has name, firstName, lastName, phone, email/],
    ['{{contact.__proto__}}', /is unknown/],
    ['{{contact.toString}}', /is unknown/],
    ['{{contact.id}}', /is unknown/],
    ['{{contact.name | upcase}}', / is not {{contact/],
    ['{{contact.name | nothing}}', / is not {{contact/],
    ['{{contact.name |}}', / is not {{contact/],
    ['{{contact.name | default}}', / is not {{contact/],
    ['{{contact.name | default: x}}', / is not {{contact/],
    ['{{contact.name | default: "a" | default: "b"}}', / is not {{contact/],
    [`{{custom.${'a'.repeat(101)}}}`, / is not {{contact/],
    ['{% if contact.name %}x{% endif %}', /{% if contact.name %} is a tag/],
    ['{% raw %}{{contact.name}}{% endraw %}', /is a tag/],
    ['{%- assign a = 1 -%}', /is a tag/],
    ['{% include "x" %}', /is a tag/],
    ['{%', /not closed/],
    [`{{${'a'.repeat(200)}}}`, /^body: {{a{75}\.\.\. is not {{contact/],
  ])('%j', (body, words) => {
    expect(refusal(body)).toMatch(words)
    expect(refusal(`before ${body}`)).toMatch(words)
  })
})

describe('any values in any template', () => {
  const key = fc.stringMatching(/^[A-Za-z0-9_-]{1,10}$/)
  const text = fc.string({ unit: 'grapheme' }).map((value) => value.replace(/[{}]/g, '|'))
  const placeholder = fc.oneof(
    fc.constantFrom(...contactFields).map((field) => ({ scope: 'contact', key: field })),
    key.map((name) => ({ scope: 'custom', key: name })),
  )
  const anything = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('{{contact.phone}}', '}}', '{{', '{%', '$&', '$1'))

  it('render the same as substituting each value for its placeholder', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(text, placeholder)),
        text,
        fc.record(Object.fromEntries(contactFields.map((field) => [field, anything]))),
        fc.dictionary(key, anything),
        (pieces, end, person, custom) => {
          const body = pieces.map(([before, { scope, key }]) => `${before}{{${scope}.${key}}}`).join('') + end
          const values: Record<string, Record<string, string>> = { contact: person as Record<string, string>, custom }
          const given = ({ scope, key }: { scope: string; key: string }) =>
            Object.hasOwn(values[scope] ?? {}, key) ? values[scope]?.[key] : undefined
          const plain = pieces.map(([before, it]) => before + (given(it) ?? `{{${it.scope}.${it.key}}}`)).join('') + end
          const missing = pieces.flatMap(([, it]) => (given(it) === undefined ? [`${it.scope}.${it.key}`] : []))
          const rendered = compileTemplate(body).render({ contact: person as Values['contact'], custom: [custom] })
          expect(rendered).toEqual({ body: plain, missing: [...new Set(missing)] })
        },
      ),
    )
  })

  it('throw no error but TEMPLATE_INVALID, for any body', () => {
    const pieces = ['{{', '}}', '{%', '%}', '{', '}', '-', '"', "'", '\\', '|', '.', '[', ']', '(', ')', ' ', 'contact', 'custom']
    const body = fc.array(fc.oneof(fc.constantFrom(...pieces, 'name', 'default:', 'raw', '\n', '\0', '\ud800'), fc.string()))
    fc.assert(
      fc.property(body, (parts) => {
        const written = parts.join('')
        try {
          const { body, missing } = compileTemplate(written).render({ contact: null, custom: [] })
          if (missing.length > 0 || !written.includes('{{')) expect(body.length).toBeLessThanOrEqual(written.length)
        } catch (error) {
          expect(codeOf(error)).toBe('TEMPLATE_INVALID')
        }
      }),
      { numRuns: 1000 },
    )
  })
})

describe('the time to compile and render', () => {
  it.each(['{{', '}}', '{%', '{{ "', "{{custom.a | default: '", '{{custom.', '{{custom.a |', '{{custom.a ', ' ', 'a', '{'])(
    '50 KB of %j is at most 50 ms',
    async (part) => {
      for (const body of [part.repeat(50_000 / part.length), `{{${part.repeat(50_000 / part.length)}}}`]) {
        const judge = () => {
          try {
            compileTemplate(body).render({ contact: null, custom: [] })
          } catch (error) {
            expect(codeOf(error)).toBe('TEMPLATE_INVALID')
          }
        }
        await promptly(judge, { withinMs: 50 })
      }
    },
  )

  it('10,000 placeholders is at most 50 ms', async () => {
    const custom = [{ a: 'x'.repeat(100) }]
    const body = '{{custom.a}}'.repeat(10_000)
    await promptly(() => compileTemplate(body).render({ contact: null, custom }), { withinMs: 50 })
  })

  it('one template 100,000 times is less than a second', async () => {
    const { render } = compileTemplate('Hi {{contact.firstName}}, {{custom.order}} of {{contact.name}} is in {{custom.place}}')
    const work = () => {
      for (let i = 0; i < 100_000; i++) render({ contact, custom: [{ order: 'x' }, { place: 'y' }] })
    }
    await promptly(work, { withinMs: 1_000 })
  })
})
