// Checks that the programs of the lab are installed.
import { existsSync } from 'node:fs'

/** The folders in which Debian installs them. */
export const programs = {
  patroni: '/usr/bin/patroni',
  etcd: '/usr/bin/etcd',
  haproxy: '/usr/sbin/haproxy',
  pgbouncer: '/usr/sbin/pgbouncer',
  postgres: '/usr/lib/postgresql/15/bin/postgres',
} as const

const packages: Record<keyof typeof programs, string> = {
  patroni: 'patroni',
  etcd: 'etcd-server',
  haproxy: 'haproxy',
  pgbouncer: 'pgbouncer',
  postgres: 'postgresql-15',
}

/** One line that says what to install, or undefined if nothing is missing. */
export function whatIsMissing(): string | undefined {
  const missing = (Object.keys(programs) as (keyof typeof programs)[]).filter((name) => !existsSync(programs[name]))
  if (missing.length === 0) return undefined
  return `apt-get install -y --no-install-recommends ${missing.map((name) => packages[name]).join(' ')}`
}
