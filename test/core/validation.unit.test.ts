// Proves which values `textsByName` keeps as text, also those that only JSON text can hold.
import { describe, expect, it } from 'vitest'
import { textsByName } from '../../src/core/validation.ts'

const parse = (json: string) => textsByName(20).safeParse(JSON.parse(json))

describe('values that are kept as texts', () => {
  it('keeps numbers as they were written', () => {
    expect(parse('{"a":1.5,"b":9007199254740991,"c":true,"d":null}').data).toEqual({ a: '1.5', b: '9007199254740991', c: 'true' })
  })

  it.each(['9007199254740993', '1e400', '-1e400'])('refuses %s, whose digits are lost', (number) => {
    const { error } = parse(`{"a":${number}}`)
    expect(error?.issues).toMatchObject([{ path: ['a'], message: 'must be a string, because it has too many digits' }])
  })
})
