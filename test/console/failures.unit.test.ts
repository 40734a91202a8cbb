// Proves that the console says in words why a message failed, for each reason of the gateway, and never advises a try that cannot help.
import { describe, expect, it } from 'vitest'
import { en } from '../../src/console/web/words/en.ts'
import { ptBR } from '../../src/console/web/words/pt-br.ts'
import { type MessageErrorCode, messageErrors } from '../../src/messages/error-codes.ts'

const codes = Object.keys(messageErrors) as MessageErrorCode[]

describe.each([
  ['English', en, /^Send it again/],
  ['Portuguese', ptBR, /^Envie de novo/],
])('in %s', (_, words, advisesAgain) => {
  it('each reason of a failure has a meaning and an advice', () => {
    expect(codes.filter((code) => !words.failure[code]?.every((sentence) => sentence.endsWith('.')))).toEqual([])
  })

  it('another try is advised only where the gateway says that it makes sense', () => {
    const advised = codes.filter((code) => advisesAgain.test(words.failure[code]?.[1] ?? ''))
    expect(advised.filter((code) => !messageErrors[code].again.startsWith('Yes'))).toEqual([])
    expect(words.failureOther[1]).not.toMatch(advisesAgain)
  })
})
