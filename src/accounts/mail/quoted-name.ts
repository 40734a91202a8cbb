// Sanitizes names that people gave to themselves or to their teams, for use in a mail to somebody else.

/** Maximum length of a name in a mail, in code points. Longer names are truncated. */
const longest = 40

/** Every character that a mail program or a resolver treats as the dot of a domain, after NFKC. */
const dot = '[.\\u3002]'
const label = '[\\p{L}\\p{N}_-]+'

/**
 * Matches text that mail programs turn into a link: an address with `@`, a URL with `//`, `mailto:`, `www.`, an IP address, or labels and
 * dots that end in a label of two characters or more that begins with a letter. `J.R.R. Tolkien` and `Plan 2.0` do not match.
 */
const address = new RegExp(
  `@|//|\\bmailto:|\\bwww${dot}|\\d+(?:${dot}\\d+){3}|\\[[0-9a-f:]*:[0-9a-f:.]*\\]|${label}${dot}\\p{L}[\\p{L}\\p{N}\\p{M}-]+`,
  'iu',
)

/**
 * Returns a name for the subject or the text of a mail: in double quotes, on one line, at most {@link longest} code points. Words that
 * contain an address become `…`. White space and control characters become single spaces. Bidirectional controls and other invisible
 * characters are removed, so that nothing hides an address from the check or reverses the text around it. An empty name becomes `"…"`.
 */
export function quotedName(name: string): string {
  const plain = name
    .normalize('NFKC')
    .replaceAll(/[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cs}\p{Co}\p{Cn}\u2800]/gu, '')
    .replaceAll(/[\s\p{Cc}\p{Z}]+/gu, ' ')
    // Marks stacked on one letter would cover the lines above and below.
    .replaceAll(/(\p{M}{3})\p{M}+/gu, '$1')
    .replaceAll(/["\u201c-\u201f\u00ab\u00bb\u2033\u2036\u300c-\u300f\u301d-\u301f]/gu, "'")
  const words = plain.split(' ').filter((word) => word !== '')
  const safe = words.map((word) => (address.test(word) ? '…' : word)).join(' ')
  return `"${shorten(safe) || '…'}"`
}

function shorten(text: string): string {
  const points = [...text]
  if (points.length <= longest) return text
  const kept = points.slice(0, longest - 1).join('')
  return `${kept.trimEnd()}…`
}
