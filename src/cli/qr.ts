// Draws a QR code on a terminal.
import { renderUnicodeCompact } from 'uqr'

/** Light modules are full blocks in white on black, whatever the colours of the terminal are. Without a terminal there are no colours. */
export function qrLines(text: string, inColour = process.stdout.isTTY): string[] {
  const lines = renderUnicodeCompact(text, { border: 2 }).split('\n')
  return inColour ? lines.map((line) => `\u001b[97;40m${line}\u001b[0m`) : lines
}
