// Reads from inside a gateway what memory and objects it holds, after a garbage collection.
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Gateway } from './gateway.ts'
import type { Holdings } from './inside.ts'

/** For the environment of a gateway whose memory is to be inspected. */
export const inspectable = {
  NODE_OPTIONS: `--expose-gc --import ${pathToFileURL(path.join(import.meta.dirname, 'inside.ts')).href}`,
}

const looks = new WeakMap<Gateway, number>()

/** Requires a gateway that was started with `inspectable`. */
export async function holdingsOf(gateway: Gateway): Promise<Holdings> {
  const look = (looks.get(gateway) ?? 0) + 1
  looks.set(gateway, look)
  gateway.kill('SIGUSR2')
  const [, json] = await gateway.line(new RegExp(`^look ${look}: (.*)$`))
  return JSON.parse(json as string)
}
