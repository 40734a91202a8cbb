// A contact card (vCard 3.0) with one number that the recipient can write to.

const escaped = (text: string) => text.replace(/[\\,;]/g, '\\$&').replace(/\r\n?|\n/g, '\\n')

export function vcardOf(name: string, phone: string): string {
  const digits = phone.replace('+', '')
  return [
    'BEGIN:VCARD',
    'VERSION:3.0',
    `N:;${escaped(name)};;;`,
    `FN:${escaped(name)}`,
    `TEL;type=CELL;type=VOICE;waid=${digits}:${phone}`,
    'END:VCARD',
  ].join('\n')
}
