// The first name of a contact when the request gives none, for arbitrary names (property test).
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { text } from '../promises/arbitrary.ts'
import { runs } from '../promises/runs.ts'
import { newNumber, openRig } from '../rest-compat/rig.ts'

it('takes the first word of the name as the first name unless one is given', async () => {
  const { api } = (await openRig()).tenant
  const name = text(1, 200).filter((value) => /\P{White_Space}/u.test(value))
  const said = fc.record({ name, firstName: fc.option(name) }, { requiredKeys: ['name'] })
  await fc.assert(
    fc.asyncProperty(said, async ({ name, firstName }) => {
      const { status, body } = await api.post('contacts', { name, firstName, phone: newNumber() })
      expect([status, body.error]).toEqual([201, undefined])
      expect(body.data).toMatchObject({ name, firstName: firstName ?? name.match(/\P{White_Space}+/u)?.[0] })
      expect((await api.get(`contacts/${body.data.id}`)).body).toEqual(body)
    }),
    runs(60),
  )
})
