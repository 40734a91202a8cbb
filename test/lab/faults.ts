// The faults of a run: which ones, when, and for how long, all by a seed.
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { pickFrom } from '../kit/random.ts'
import type { S3Server } from '../kit/s3-server.ts'
import { type Around, faultsAround } from './faults-around.ts'
import { faultsOfNodes } from './faults-of-nodes.ts'
import type { Node } from './nodes.ts'

export interface Target {
  nodes: readonly Node[]
  /** Undefined: clients call the nodes, which share a database that no fault reaches. */
  around: Around | undefined
  /** The bucket that the nodes store files in. */
  bucket: S3Server
  /** Connections to the database. */
  pool: pg.Pool
}

export interface Fault {
  name: string
  /** Its begin and the end of its repair, in milliseconds since 1970. */
  from: number
  to: number
}

export const faultNames = [...Object.keys(faultsOfNodes), ...Object.keys(faultsAround)]

/** Strikes until the time is over. Only the faults named in `only`, if it is given. Returns what was done, in order. */
export async function strike(target: Target, random: () => number, untilMs: number, only?: readonly string[]): Promise<Fault[]> {
  const done: Fault[] = []
  const { around } = target
  const possible = Object.keys({ ...faultsOfNodes, ...(around && faultsAround) })
  const names = possible.filter((name) => only?.includes(name) ?? true)
  while (Date.now() < untilMs) {
    await pause(1_000 + 3_000 * random())
    const name = pickFrom(names, random)
    const from = Date.now()
    console.log(`${new Date().toISOString()} ${name}`)
    await faultsOfNodes[name]?.(target, random)
    if (around) await faultsAround[name]?.({ ...around, bucket: target.bucket, pool: target.pool }, random)
    done.push({ name, from, to: Date.now() })
  }
  return done
}
