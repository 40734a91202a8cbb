// Templates and values that mean harm, on every way in: a template yields what it names and nothing else, at once.
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Answer, connectedInstance, promptly } from '../kit/kit.ts'
import { expectRefusal, newNumber, openRig, type Rig, type Tenant } from '../rest-compat/rig.ts'

let rig: Rig
/** Its messages stay queued. */
let asleep: Tenant
/** A template that takes every hostile body in an update. */
let victim: string
/** A template that is one value. */
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

describe('a template is refused, new and changed, and stays what it was:', () => {
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
      // As long as a body may be.
      const most = body.slice(0, 4096)
      const { status, body: answer } = await promptly(() => create(most))
      if (status !== 201) expect(answer.error.code).toBe('TEMPLATE_INVALID')
    },
  )
})

describe('a template says literally', () => {
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

describe('a value is text, and never read again:', () => {
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

  it.each(['\0', '\ud800', '\udfff', 'a\ud800\ud800'])('%j is refused by name', async (a) => {
    for (const ask of [preview, send]) {
      expectRefusal(await ask(echo, { a }), 400, 'VALIDATION_ERROR', 'variables.a: must not contain NUL or unpaired surrogates')
      expectRefusal(await ask(echo, { a: 'x', [a]: 'x' }), 400, 'VALIDATION_ERROR', /^variables: must not contain NUL/)
    }
  })

  it.each([7, true, null, ['x'], { toString: 'x' }])('%j is no value', async (a) => {
    for (const ask of [preview, send]) expectRefusal(await ask(echo, { a }), 400, 'VALIDATION_ERROR', /^variables\.a: must /)
  })
})

describe('a name that objects have by nature', () => {
  it.each(['constructor', 'toString', 'hasOwnProperty', 'valueOf', 'prototype', '__defineGetter__'])(
    'has only the value it is given: %s',
    async (key) => {
      const id = (await create(`[{{custom.${key}}}]`)).body.data.id
      expect((await preview(id, {})).body.data).toMatchObject({ body: `[{{custom.${key}}}]`, missing: [`custom.${key}`] })
      expectRefusal(await send(id, {}), 400, 'TEMPLATE_INVALID', `custom.${key}: has no value`)
      expect((await send(id, { [key]: 'own' })).body.data.body).toBe('[own]')
    },
  )

  it('reaches no prototype', async () => {
    const id = (await create('[{{custom.__proto__}}]')).body.data.id
    expectRefusal(await send(id, { a: 'x' }), 400, 'TEMPLATE_INVALID', 'custom.__proto__: has no value')
    const evil = '{"variables":{"__proto__":{"polluted":"x"}}}'
    const answer = await asleep.api.post(`templates/${id}/preview`, evil)
    expectRefusal(answer, 400, 'VALIDATION_ERROR', 'body: must not name __proto__')
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })
})

describe('size', () => {
  it('a result of 350 KB is refused at once', async () => {
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

  it('1,000 such results in one bulk are refused one by one, and soon', async () => {
    const id = (await create('{{custom.a}}'.repeat(341))).body.data.id
    const message = { instanceId: asleep.instance.id, to: newNumber(), templateId: id, variables: { a: 'x'.repeat(1024) } }
    const messages = Array(1000).fill(message)
    const { body } = await promptly(() => asleep.api.post('messages/bulk', { messages }), { withinMs: 2_000 })
    expect(body.data.accepted).toEqual([])
    expect(body.data.rejected).toHaveLength(1000)
    expect(body.data.rejected[999]).toMatchObject({ index: 999, code: 'TEMPLATE_INVALID' })
  })

  it('10,000 variables are judged at once', async () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, 'x']))
    const { body } = await promptly(() => preview(echo, { ...many, a: 'x' }), { withinMs: 300 })
    expect(body.data.body).toBe('[x]')
  })
})

describe('whatever the template and the values', () => {
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

  it('the answer is a result or a refusal by name, and the preview is what is sent', async () => {
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
