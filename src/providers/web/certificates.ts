// Remembers the certificates of the network that were verified: each connection shows the same two, whose signatures take most of the
// processor time of a login, in one piece (npm run test:deep, many.deep.test.ts).
import type { Curve } from 'baileys'

const most = 16

/** Lets the package verify the same signature once. A signature that is wrong is verified again each time. */
export function rememberSignatures(curve: Pick<typeof Curve, 'verify'>): void {
  const { verify } = curve
  const known = new Set<string>()
  curve.verify = (key, message, signature) => {
    const name = [key, message, signature].map((bytes) => Buffer.from(bytes).toString('base64')).join()
    if (known.has(name)) return true
    const right = verify(key, message, signature)
    if (right) known.add(name)
    if (known.size > most) known.delete(known.keys().next().value as string)
    return right
  }
}
