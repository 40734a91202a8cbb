// The table of the errors of messages: the OpenAPI documents show it, and it knows every code that the sources give a message.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { messageErrorOf, messageErrors, messageErrorTable } from '../../src/messages/error-codes.ts'
import { sourcesOf } from '../promises/sources.ts'

it('stands in the guide to messages, line by line', () => {
  const guide = readFileSync(new URL('../../rest-compat/openapi/guides/messages.md', import.meta.url), 'utf8')
  expect(guide).toContain(messageErrorTable())
})

it('has every code that a message fails with', () => {
  const files = sourcesOf('src').filter(({ path }) => /^src\/(providers|messages)\//.test(path))
  const codes = files.flatMap(({ text }) => [
    ...text.matchAll(/(?:'fail'|'refused'|'retry'|refuse: \{|status: 'failed'|id,)[^\n]*error: '([A-Z_]+)'/g),
  ])
  expect(codes.length).toBeGreaterThan(6)
  for (const [, code] of codes) if (code !== 'TEST') expect(Object.keys(messageErrors)).toContain(code)
})

it('shows an error that only a network knows as PROVIDER_ERROR', () => {
  expect([messageErrorOf(null), messageErrorOf('EXPIRED'), messageErrorOf('131999')]).toEqual([null, 'EXPIRED', 'PROVIDER_ERROR'])
})
