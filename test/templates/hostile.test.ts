// Hostile templates and values on every endpoint: only known placeholders are rendered, values stay text, answers are prompt.
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { connectedInstance } from '../kit/accounts.ts'
import type { Answer } from '../kit/api.ts'
import { promptly } from '../kit/promptly.ts'
import { expectRefusal, newNumber, openRig, type Rig, type Tenant } from '../rest-compat/rig.ts'

let rig: Rig
/** A disconnected instance, so its messages stay queued. */
let asleep: Tenant
/** A template that is updated with every hostile body. */
let victim: string
/** A template whose body is one placeholder. */
let echo: string

beforeAll(async () => {
  rig = await openRig()
  const { account, api } = rig.tenant
  asleep = { account, api, instance: await connectedInstance(rig.databaseUrl, account, { status: 'disconnected' }) }
  victim = (await create('unharmed')).body.data.id
  echo = (await create('[{{custom.a}}]')).body.data.id
})
let last = 0
function create(body: unknown): Promise<Answer> {
  return asleep.api.post('templates', { name: `Template ${++last}`, type: 'text', body })
}

function preview(id: string, variables: unknown): Promise<Answer> {
  return asleep.api.post(`templates/${id}/preview`, { variables })
}

function send(templateId: string, variables: unknown): Promise<Answer> {
  return asleep.api.post('messages/send', { instanceId: asleep.instance.id, to: newNumber(), templateId, variables })
}

describe('a hostile template body is refused on create and update, and the stored template stays unchanged:', () => {
  it.each([
    '{{constructor.constructor("return process")()}}',
    '{{contact.constructor.constructor("return process")()}}',
    '{{contact.__proto__.x}}',
    '{{contact.__proto__}}',
    '{{contact.toString}}',
    '{{contact["name"]}}',
    '{{custom["__proto__"]}}',
    '{{custom.a.__proto__}}',
    '{{this}}',
    '{{globals}}',
    '{{process.env.SECRET_KEY}}',
    '{{#each contact}}x{{/each}}',
    '{{> partial}}',
    '{{{contact.name}}}',
    '{{contact.name | inspect}}',
    '{{contact | json}}',
    '{{custom.a | append: contact.phone}}',
    '{{custom.a | default: contact.phone}}',
    '{% include "/etc/passwd" %}',
    '{% render "x" %}',
    '{% layout "x" %}',
    '{% for i in (1..1000000000) %}x{% endfor %}',
    '{% raw %}{{contact.name}}{% endraw %}',
    '{% liquid echo contact.name %}',
    '{% comment %}',
    '{{"a" | times: 1000000}}',
    '{{(1..1000000000)}}',
    '{{',
    '{{contact.name',
    '{{contact.name}} {{',
    '}}',
    '{{contact.{{custom.a}}}}',
  ])('%s', async (body) => {
    for (const text of [body, `Hello ${body} there`]) {
      const created = await promptly(() => create(text))
      expectRefusal(created, 400, 'TEMPLATE_INVALID', /^body: /)
      expect(await promptly(() => asleep.api.put(`templates/${victim}`, { body: text }))).toMatchObject({
        status: 400,
        body: created.body,
      })
    }
    expect((await asleep.api.get(`templates/${victim}`)).body.data.body).toBe('unharmed')
  })

  it.each(['{{', '}}', '{%', '{{ "', "{{custom.a | default: '", '{{custom.', '{{custom.a |', ' ', '{{custom.a}}', '\u00e9', '{'])(
    '50 KB of %j',
    async (part) => {
      const body = part.repeat(50_000 / part.length)
      for (const ask of [() => create(body), () => asleep.api.put(`templates/${victim}`, { body })])
        expectRefusal(await promptly(ask), 400, 'VALIDATION_ERROR', 'body: must have at most 4096 characters')
      // The longest body that is allowed.
      const most = body.slice(0, 4096)
      const { status, body: answer } = await promptly(() => create(most))
      if (status !== 201) expect(answer.error.code).toBe('TEMPLATE_INVALID')
    },
  )
})

describe('a template renders literally', () => {
  it.each([
    '$\u007b7*7}',
    '<%= 7*7 %>',
    '#{7*7}',
    '{{custom.a}} $& $1 $`',
    '%s %d',
    '<script>alert(1)</script>',
    "'; drop table templates; --",
  ])('%s', async (body) => {
    const id = (await create(body)).body.data.id
    const rendered = body.replace('{{custom.a}}', 'x')
    expect((await preview(id, { a: 'x' })).body.data).toMatchObject({ body: rendered, missing: [] })
    expect((await send(id, { a: 'x' })).body.data.body).toBe(rendered)
  })
})

describe('a value is text and is never parsed again:', () => {
  it.each([
    '{{contact.phone}}',
    '{{custom.a}}',
    '{{custom.b | default: "x"}}',
    '{% raw %}',
    '{{',
    '}}',
    '$& $1 $` $$',
    '\\',
    '"',
    "'",
    '\u2028',
    '\r\nX-Evil: 1',
    '\u001b[31m',
    '👨‍👩‍👧‍👦',
    '=1+1',
    "'; drop table messages; --",
    '__proto__',
  ])('%j', async (a) => {
    expect((await preview(echo, { a, b: 'read again' })).body.data).toMatchObject({ body: `[${a}]`, missing: [] })
    const sent = await send(echo, { a, b: 'read again' })
    expect([sent.status, sent.body.data.body]).toEqual([201, `[${a}]`])
    const contact = await asleep.api.post('contacts', { name: 'x', phone: newNumber(), custom: { a } })
    const shown = await asleep.api.post(`templates/${echo}/preview`, { contactId: contact.body.data.id })
    expect(shown.body.data.body).toBe(`[${a}]`)
  })

  it.each(['\0', '\ud800', '\udfff', 'a\ud800\ud800'])('%j is refused with the name of the variable', async (a) => {
    for (const ask of [preview, send]) {
      expectRefusal(await ask(echo, { a }), 400, 'VALIDATION_ERROR', 'variables.a: must not contain NUL or unpaired surrogates')
      expectRefusal(await ask(echo, { a: 'x', [a]: 'x' }), 400, 'VALIDATION_ERROR', /^variables: must not contain NUL/)
    }
  })

  it.each([2 ** 60, ['x'], { toString: 'x' }])('%j is refused as a value', async (a) => {
    for (const ask of [preview, send]) expectRefusal(await ask(echo, { a }), 400, 'VALIDATION_ERROR', /^variables\.a: must /)
  })
})

describe('a variable named like a built-in object property', () => {
  it.each(['constructor', 'toString', 'hasOwnProperty', 'valueOf', 'prototype', '__defineGetter__'])(
    'has only the value that it is given: %s',
    async (key) => {
      const id = (await create(`[{{custom.${key}}}]`)).body.data.id
      expect((await preview(id, {})).body.data).toMatchObject({ body: `[{{custom.${key}}}]`, missing: [`custom.${key}`] })
      expectRefusal(await send(id, {}), 400, 'TEMPLATE_INVALID', `custom.${key}: has no value`)
      expect((await send(id, { [key]: 'own' })).body.data.body).toBe('[own]')
    },
  )

  it('never reaches a prototype', async () => {
    const id = (await create('[{{custom.__proto__}}]')).body.data.id
    expectRefusal(await send(id, { a: 'x' }), 400, 'TEMPLATE_INVALID', 'custom.__proto__: has no value')
    const evil = '{"variables":{"__proto__":{"polluted":"x"}}}'
    const answer = await asleep.api.post(`templates/${id}/preview`, evil)
    expectRefusal(answer, 400, 'VALIDATION_ERROR', 'body: must not name __proto__')
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })
})

describe('an oversized input', () => {
  it('of 350 KB after rendering is refused promptly', async () => {
    const id = (await create('{{custom.a}}'.repeat(341))).body.data.id
    for (const a of ['x'.repeat(1024), '👍'.repeat(1024)]) {
      for (const ask of [preview, send]) {
        const answer = await promptly(() => ask(id, { a }))
        expectRefusal(answer, 400, 'TEMPLATE_INVALID', 'The rendered text has more than 4096 characters')
      }
    }
    expectRefusal(
      await send(id, { a: 'x'.repeat(1025) }),
      400,
      'VALIDATION_ERROR',
      'variables.a: must have at most 1024 characters',
    )
  })

  it('of 1,000 such results in one bulk is refused item by item within 2 s', async () => {
    const id = (await create('{{custom.a}}'.repeat(341))).body.data.id
    const message = { instanceId: asleep.instance.id, to: newNumber(), templateId: id, variables: { a: 'x'.repeat(1024) } }
    const messages = Array(1000).fill(message)
    const { body } = await promptly(() => asleep.api.post('messages/bulk', { messages }), { withinMs: 2_000 })
    expect(body.data.accepted).toEqual([])
    expect(body.data.rejected).toHaveLength(1000)
    expect(body.data.rejected[999]).toMatchObject({ index: 999, code: 'TEMPLATE_INVALID' })
  })

  it('of 10,000 variables is rendered within 300 ms', async () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, 'x']))
    const { body } = await promptly(() => preview(echo, { ...many, a: 'x' }), { withinMs: 300 })
    expect(body.data.body).toBe('[x]')
  })
})

describe('any template with any values', () => {
  const odd = fc.constantFrom(
    '{{',
    '}}',
    '{{custom.a}}',
    '{{contact.phone}}',
    '{%',
    '%}',
    '|',
    '"',
    ' ',
    '__proto__',
    '\0',
    '\ud800',
  )
  const anything = fc.array(fc.oneof(odd, fc.string({ unit: 'grapheme' })), { maxLength: 8 }).map((parts) => parts.join(''))

  it('gives a result or a named refusal, and the preview equals the sent text', async () => {
    await fc.assert(
      fc.asyncProperty(anything, fc.dictionary(fc.constantFrom('a', 'b', 'constructor'), anything), async (body, variables) => {
        const created = await create(body)
        if (created.status !== 201) {
          expect(created.status).toBe(400)
          expect(created.body.error.code).toMatch(/^(VALIDATION_ERROR|TEMPLATE_INVALID)$/)
          return
        }
        const { id } = created.body.data
        const [shown, sent] = [await preview(id, variables), await send(id, variables)]
        if (sent.status === 201) expect(sent.body.data.body).toBe(shown.body.data.body)
        else {
          expect(sent.status).toBe(400)
          if (shown.status === 200)
            expect(sent.body.error.message).toMatch(new RegExp(`^${shown.body.data.missing.join(', ')}: `))
          else expect(shown.body).toEqual(sent.body)
        }
      }),
      { numRuns: 150 },
    )
    const { data } = (await asleep.api.get('templates')).body
    await Promise.all(data.map(({ id }: { id: string }) => asleep.api.delete(`templates/${id}`)))
  })
})
