// Proves that one subscription follows all instances of a workspace: at once, and after every change of one of them.
import { expect, it } from 'vitest'
import { openSse } from '../events/sse.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { commons } from '../kit/commons.ts'
import { until } from '../kit/until.ts'

interface Shown {
  id: string
  name: string
  status: string
}

it('shows a creation, a pairing, a new name, a logout and a deletion, and nothing of other workspaces', async () => {
  const gateway = commons()
  const account = await createAccount(gateway.databaseUrl)
  const stranger = await createAccount(gateway.databaseUrl)
  const { id: first } = await connectedInstance(gateway.databaseUrl, account)
  const stream = await openSse(new URL('/graphql', gateway.url), {
    headers: { 'x-api-key': account.apiKey },
    body: { query: 'subscription { instances { id name status } }' },
  })
  const states = () =>
    stream.events.flatMap(({ event, data }): Shown[][] => (event === 'next' ? [JSON.parse(data ?? '').data.instances] : []))
  const shows = (check: (instances: Shown[]) => boolean | undefined) => until(() => states().some(check))
  const { post, put, delete: remove } = api(gateway, account.apiKey)
  await until(() => states().length === 1)
  expect(states()[0]).toMatchObject([{ id: first, status: 'connected' }])
  await api(gateway, stranger.apiKey).post('instances', { name: 'Elsewhere' })
  const { id } = (await post('instances', { name: 'Second' })).body.data
  await shows((all) => all[1]?.id === id && all[1]?.status === 'created')
  await post(`instances/${id}/connect`)
  await shows((all) => all[1]?.status === 'connected')
  await put(`instances/${id}`, { name: 'Renamed' })
  await shows((all) => all[1]?.name === 'Renamed')
  await post(`instances/${first}/logout`)
  await shows((all) => all[0]?.status === 'logged_out')
  await remove(`instances/${id}`)
  await shows((all) => all.length === 1 && all[0]?.status === 'logged_out')
  expect(
    states()
      .flat()
      .filter(({ name }) => name === 'Elsewhere'),
  ).toEqual([])
  stream.close()
})
