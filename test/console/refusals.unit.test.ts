// Proves that the console has words of its own for each code of the gateway that a person meets.
import { describe, expect, it } from 'vitest'
import { words as english } from '../../src/console/web/refusals/words-en.ts'
import { words as portuguese } from '../../src/console/web/refusals/words-pt-br.ts'
import { en } from '../../src/console/web/words/en.ts'
import { ptBR } from '../../src/console/web/words/pt-br.ts'
import { errors } from '../../src/core/errors.ts'

/** Codes without words, with the reason. */
const without: Partial<Record<string, string>> = {
  TEAM_KEY_REQUIRED: 'of keys',
  TEAM_KEY_NOT_ALLOWED: 'of keys',
  MONTHLY_API_REQUEST_QUOTA_EXCEEDED: 'requests of a session do not count',
  STATUSES_NOT_AVAILABLE_ON_PLAN: 'no page sends statuses',
  METHOD_NOT_ALLOWED: 'the pages use the methods that there are',
  UNSUPPORTED_MEDIA_TYPE: 'the pages send JSON',
  TEMPLATE_INVALID: 'the gateway says what is wrong in the template',
}

describe.each([
  ['English', { ...en.errors, ...english }],
  ['Portuguese', { ...ptBR.errors, ...portuguese }],
])('in %s', (_, words: Record<string, string>) => {
  it('each refusal that a person meets is said in a sentence', () => {
    const isSaid = (code: string) => words[code]?.endsWith('.') === true
    expect(Object.keys(errors).filter((code) => isSaid(code) === code in without)).toEqual([])
  })
})
