// Proves that the console says in words why a message failed, for each reason of the gateway, and never advises a try that cannot help.
import { describe, expect, it } from 'vitest'
import { words as english } from '../../src/console/web/failures/words-en.ts'
import { words as portuguese } from '../../src/console/web/failures/words-pt-br.ts'
import { type MessageErrorCode, messageErrors } from '../../src/messages/error-codes.ts'

const codes = Object.keys(messageErrors) as MessageErrorCode[]

describe.each([
  ['English', english, /^Send it again/],
  ['Portuguese', portuguese, /^Envie de novo/],
])('in %s', (_, words, advisesAgain) => {
  it('each reason of a failure has a meaning and an advice', () => {
    expect(codes.filter((code) => !words.byCode[code]?.every((sentence) => sentence.endsWith('.')))).toEqual([])
  })

  it('another try is advised only where the gateway says that it makes sense', () => {
    const advised = codes.filter((code) => advisesAgain.test(words.byCode[code]?.[1] ?? ''))
    expect(advised.filter((code) => !messageErrors[code].again.startsWith('Yes'))).toEqual([])
    expect(words.other[1]).not.toMatch(advisesAgain)
  })
})
