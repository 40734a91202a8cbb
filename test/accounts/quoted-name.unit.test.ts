// Names in mails are quoted, short, on one line, and contain nothing that a mail program turns into a link.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { quotedName } from '../../src/accounts/mail/quoted-name.ts'

describe('a name in a mail', () => {
  it.each([
    ['Support', '"Support"'],
    ['J.R.R. Tolkien', '"J.R.R. Tolkien"'],
    ["Siobhán O'Brien-Núñez, Ph.D", '"Siobhán O\'Brien-Núñez, Ph.D"'],
    ['St. John & Sons Inc.', '"St. John & Sons Inc."'],
    ['Plan 2.0', '"Plan 2.0"'],
    ['北京 支持', '"北京 支持"'],
    ['فريق الدعم', '"فريق الدعم"'],
  ])('is kept and quoted: %s', (name, shown) => {
    expect(quotedName(name)).toBe(shown)
  })

  it.each([
    ['URGENT: locked, go to https://evil.example/login now', '"URGENT: locked, go to … now"'],
    ['Your account is locked, go to https://evil.example/', '"Your account is locked, go to …"'],
    ['visit evil.example', '"visit …"'],
    ['EVIL.EXAMPLE/login?a=b', '"…"'],
    ['www.evil', '"…"'],
    ['//evil/login', '"…"'],
    ['write to boss@evil.example', '"write to …"'],
    ['boss@localhost', '"…"'],
    ['mailto:boss', '"…"'],
    ['(evil.example)', '"…"'],
    ['go to 203.0.113.7', '"go to …"'],
    ['go to [2001:db8::7]', '"go to …"'],
    ['公司evil.example', '"…"'],
    ['пример.испытание', '"…"'],
    ['evil。example', '"…"'],
    ['ｅｖｉｌ．ｅｘａｍｐｌｅ', '"…"'],
    ['evil｡example', '"…"'],
    ['evil․example', '"…"'],
    ['evil.\u200bexample', '"…"'],
    ['evil\u00ad.example', '"…"'],
    ['evil\u2060.\ufeffexample', '"…"'],
    ['ev\u202eil.example', '"…"'],
    ['evil.example\u0301', '"…"'],
  ])('contains no address: %j', (name, shown) => {
    expect(quotedName(name)).toBe(shown)
  })

  it.each([
    ['one\r\nBcc: all', '"one Bcc: all"'],
    ['one\u2028two\u2029three\u0085four', '"one two three four"'],
    ['a\u0000b\u001b[31mc\u009b5md', '"a b [31mc 5md"'],
    ['\u202eabc\u2066def\u2069\u200f\u061c', '"abcdef"'],
    ['say "yes" and “no”', "\"say 'yes' and 'no'\""],
    ['x\u0300\u0301\u0302\u0303\u0304\u0305y', '"x\u0300\u0301\u0302y"'],
    ['', '"…"'],
    [' \u3164\u2800\u200b ', '"…"'],
    ['\ud800', '"…"'],
  ])('is one line of visible characters: %j', (name, shown) => {
    expect(quotedName(name).normalize('NFKC')).toBe(shown.normalize('NFKC'))
  })

  it('is cut off after 40 characters, never within one', () => {
    expect(quotedName('x'.repeat(40))).toBe(`"${'x'.repeat(40)}"`)
    expect(quotedName('x'.repeat(41))).toBe(`"${'x'.repeat(39)}…"`)
    expect(quotedName('🦊'.repeat(41))).toBe(`"${'🦊'.repeat(39)}…"`)
    // A single character whose NFKC form has eighteen.
    expect([...quotedName('\ufdfa'.repeat(100))].length).toBeLessThanOrEqual(42)
  })

  it('is quoted, short and without a link, for any input', () => {
    const pieces = fc.constantFrom('evil', '.', '。', '．', 'example', '@', '//', '\u200b', '\u202e', '\r\n', '"', ' ', '\u0301')
    const unlike = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(unlike, (name) => {
        const shown = quotedName(name)
        expect(shown).toMatch(/^"[^"\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,80}"$/u)
        expect([...shown].length).toBeLessThanOrEqual(42)
        expect(shown).not.toMatch(/@|\/\/|evil[.\u3002\uff0e]example/iu)
      }),
      { numRuns: 2_000 },
    )
  })
})
