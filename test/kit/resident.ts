// Reads the resident memory of another process.
import { readFileSync } from 'node:fs'

/** Bytes, from VmRSS on Linux. */
export function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
}
