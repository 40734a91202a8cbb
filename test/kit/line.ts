// A network between a gateway and its database that can forget its connections: it closes nothing, and brings nothing any more.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Line extends AsyncDisposable {
  /** The database behind the line. */
  url: string
  /** Forgets the connections that are open. Later ones work. */
  forget: () => void
  /** Brings nothing over later connections either, until the returned function is called. */
  cut: () => () => void
}

export async function createLine(databaseUrl: string): Promise<Line> {
  const url = new URL(databaseUrl)
  const [host, port] = [url.hostname, Number(url.port)]
  const ends: Socket[] = []
  let isCut = false
  const server = createServer((near) => {
    const far = connect(port, host)
    for (const end of [near, far]) ends.push(end.on('error', () => {}))
    if (!isCut) near.pipe(far).pipe(near)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url.port = String((server.address() as AddressInfo).port)
  const forget = () => {
    for (const end of ends) end.unpipe()
  }
  return {
    url: url.href,
    forget,
    cut() {
      isCut = true
      forget()
      return () => {
        isCut = false
      }
    },
    async [Symbol.asyncDispose]() {
      server.close()
      for (const end of ends) end.destroy()
    },
  }
}
