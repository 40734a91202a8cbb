// Reads the memory of another process.
import { readFileSync } from 'node:fs'

/** Resident bytes, from VmRSS on Linux. */
export function residentBytes(pid: number): number {
  return bytesOf(pid, 'VmRSS')
}

/** The most resident bytes since the start of the process, from VmHWM on Linux. */
export function mostResidentBytes(pid: number): number {
  return bytesOf(pid, 'VmHWM')
}

function bytesOf(pid: number, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
}
