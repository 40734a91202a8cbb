// Shows the text of a QR code on a terminal.
import { oneLine } from '../core/one-line.ts'

/** Lines for the terminal. */
export function qrLines(text: string): string[] {
  return [`QR code: ${oneLine(text)}`]
}
