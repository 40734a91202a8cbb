// Whatever is said of a contact: what is valid is stored as it was said, what is not is refused, and nothing breaks.
import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { newNumber, openRig, type Rig } from '../rest-compat/rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

const seed = 20_261_121
const runs = { numRuns: 80, seed }

/** Any text that Postgres can store, of so many code points. */
function text(minLength: number, maxLength: number) {
  return fc.string({ unit: 'binary', minLength, maxLength }).filter((value) => !value.includes('\0') && value.isWellFormed())
}

const tag = text(1, 50).filter((value) => value.trim() === value)
const key = text(1, 40).filter((name) => name !== '__proto__' && name.length <= 100)
const contact = fc.record(
  {
    name: text(1, 200),
    firstName: fc.option(text(1, 200)),
    lastName: fc.option(text(1, 200)),
    email: fc.option(fc.constantFrom('ada@example.com', "o'hara+tag@sub.example.org", 'A.B-C_d@EXAMPLE.io')),
    tags: fc.uniqueArray(tag, { maxLength: 50 }),
    custom: fc.dictionary(key, text(0, 300), { maxKeys: 50 }),
  },
  { requiredKeys: ['name'] },
)

it('keeps every valid contact as it was said', async () => {
  const { api } = rig.tenant
  await fc.assert(
    fc.asyncProperty(contact, contact, async (fields, later) => {
      const { status, body } = await api.post('contacts', { ...fields, phone: newNumber() })
      expect([status, body.error]).toEqual([201, undefined])
      const said = { ...fields, firstName: fields.firstName ?? fields.name.match(/\S+/)?.[0] ?? null }
      expect(body.data).toMatchObject({ ...said, custom: { ...said.custom } })
      expect((await api.get(`contacts/${body.data.id}`)).body).toEqual(body)
      const changed = await api.put(`contacts/${body.data.id}`, later)
      expect(changed.body.data).toMatchObject({ ...later, ...(later.custom && { custom: { ...later.custom } }) })
      expect((await api.get(`contacts/${body.data.id}`)).body).toEqual(changed.body)
    }),
    runs,
  )
})

it('answers any JSON in any field with a contact or a refusal that names the field', async () => {
  const { api } = rig.tenant
  const fields = ['name', 'firstName', 'lastName', 'phone', 'email', 'tags', 'custom'] as const
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...fields), fc.jsonValue({ maxDepth: 3 }), async (field, value) => {
      const { status, body } = await api.post('contacts', { name: 'Ada', phone: newNumber(), [field]: value })
      expect([201, 400, 409]).toContain(status)
      if (status === 400)
        expect(body.error).toEqual({ code: 'VALIDATION_ERROR', message: expect.stringMatching(`^(${field}|body)[.:]`) })
    }),
    { ...runs, numRuns: 200 },
  )
})

it('answers any query with a page or a refusal that names the parameter', async () => {
  const { api } = rig.tenant
  const names = ['limit', 'cursor', 'sort', 'search', 'tag', 'groupId'] as const
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...names), fc.string({ unit: 'grapheme', maxLength: 120 }), async (name, value) => {
      const { status, body } = await api.get(`contacts?${name}=${encodeURIComponent(value)}`)
      expect([200, 400]).toContain(status)
      if (status === 400) expect(body.error).toEqual({ code: 'VALIDATION_ERROR', message: expect.stringMatching(`^${name}: `) })
    }),
    { ...runs, numRuns: 200 },
  )
})
