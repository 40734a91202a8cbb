// The members of etcd, in which Patroni keeps who is the primary. Two of three must run.
import path from 'node:path'
import { ownPort } from '../kit/port.ts'
import { until } from '../kit/until.ts'
import { programs } from './need.ts'
import type { Place } from './place.ts'
import { createProgram, type Program } from './program.ts'

export interface Etcd {
  members: readonly Program[]
  /** The addresses for clients, without the scheme. */
  hosts: readonly string[]
}

export async function openEtcd(place: Place, parts: AsyncDisposableStack, size: number): Promise<Etcd> {
  const ports: { client: string; peer: string }[] = []
  while (ports.length < size) ports.push({ client: `127.0.0.1:${await ownPort()}`, peer: `http://127.0.0.1:${await ownPort()}` })
  const nameOf = (n: number) => `etcd${n + 1}`
  const all = ports.map(({ peer }, n) => `${nameOf(n)}=${peer}`).join(',')
  const members = ports.map(({ client, peer }, n) => {
    const member = createProgram({
      name: nameOf(n),
      command: programs.etcd,
      args: [
        ['--name', nameOf(n), '--data-dir', path.join(place.folder, nameOf(n))],
        ['--listen-client-urls', `http://${client}`, '--advertise-client-urls', `http://${client}`],
        ['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', all],
      ].flat(),
      folder: place.folder,
    })
    parts.defer(() => member.end())
    member.start()
    return member
  })
  const hosts = ports.map(({ client }) => client)
  await until(async () => (await Promise.all(hosts.map((host) => fetch(`http://${host}/health`)))).every(({ ok }) => ok))
  return { members, hosts }
}
