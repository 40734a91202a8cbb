// The QR code on a terminal has the modules of the text, each light one as a block.
import { encode } from 'uqr'
import { expect, it } from 'vitest'
import { qrLines } from '../../src/cli/qr.ts'

/** True for each of the upper and the lower module of a character if it is light. */
const halves: Record<string, [upper: boolean, lower: boolean]> = {
  '█': [true, true],
  '▀': [true, false],
  '▄': [false, true],
  ' ': [false, false],
}

it('draws every module, two rows on a line', () => {
  const text = 'https://wa.me/settings/linked_devices#2@ref,noise,identity,adv,1'
  const { data } = encode(text, { border: 2 })
  const drawn = qrLines(text, false).flatMap((line) => {
    const pairs = [...line].map((character) => halves[character] as [boolean, boolean])
    return [pairs.map(([upper]) => upper), pairs.map(([, lower]) => lower)]
  })
  expect(drawn.slice(0, data.length)).toEqual(data.map((row) => row.map((dark) => !dark)))
  expect(qrLines(text, true)[0]).toBe(`\u001b[97;40m${qrLines(text, false)[0]}\u001b[0m`)
})
