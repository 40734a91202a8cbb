// Downloads of files, whole or in parts, with headers that keep browsers from running them.
import { rmSync } from 'node:fs'
import { connect } from 'node:net'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { readRange } from '../../src/media/range.ts'
import { until } from '../kit/until.ts'
import { dataFolder } from '../promises/demo.ts'
import { type OwnRig, openOwnRig } from '../rest-compat/rig.ts'
import { openFiles, samples, sized, upload } from './rig.ts'

let rig: OwnRig
let dataDir: string

beforeAll(async () => {
  dataDir = await dataFolder()
  rig = await openOwnRig({ DATA_DIR: dataDir })
})

interface Uploaded {
  id: string
  url: string
  size: number
}

async function uploaded(content: Uint8Array | string): Promise<Uploaded> {
  return (await upload(rig.gateway, rig.tenant.account.apiKey, content)).body.data
}

/** Returns both ways to download a file: its public URL, and the REST route with the API key. */
function ways({ id, url }: Uploaded): [string, Record<string, string>][] {
  return [
    [url, {}],
    [`${rig.gateway.url}/api/v1/media/${id}`, { 'x-api-key': rig.tenant.account.apiKey }],
  ]
}

describe('a downloaded file', () => {
  it.each(Object.keys(samples))('of type %s declares its type, and its headers forbid execution', async (type) => {
    const file = await uploaded(samples[type] as Buffer)
    for (const [url, headers] of ways(file)) {
      const { status, headers: outcome } = await fetch(url, { headers })
      expect(status).toBe(200)
      expect(outcome.get('content-type')).toBe(type === 'text/plain' ? 'text/plain; charset=utf-8' : type)
      expect(outcome.get('content-disposition')).toMatch(/^(image|audio|video)/.test(type) ? /^inline; / : /^attachment; /)
      expect(outcome.get('content-disposition')).toMatch(new RegExp(`; filename="${file.id}\\.[a-z0-9]{3,4}"$`))
      expect(outcome.get('content-security-policy')).toBe("default-src 'none'; sandbox")
      expect(outcome.get('x-content-type-options')).toBe('nosniff')
      expect(outcome.get('content-length')).toBe(String(file.size))
      expect(outcome.get('accept-ranges')).toBe('bytes')
      expect(outcome.get('etag')).toBe(`"${file.id}"`)
      expect(outcome.get('set-cookie')).toBeNull()
    }
  })

  it('may be cached and embedded by anyone under its public URL, but not under the REST route', async () => {
    const [open, keyed] = await Promise.all(ways(await uploaded('hello')).map(([url, headers]) => fetch(url, { headers })))
    expect(open?.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(open?.headers.get('cross-origin-resource-policy')).toBe('cross-origin')
    expect(keyed?.headers.get('cache-control')).toBe('private, no-cache')
    expect(keyed?.headers.get('cross-origin-resource-policy')).toBe('same-origin')
  })

  it('has the same headers for HEAD as for GET', async () => {
    for (const [url, headers] of ways(await uploaded('hello'))) {
      const [head, get] = [await fetch(url, { method: 'HEAD', headers }), await fetch(url, { headers })]
      const outcome = (response: Response) => {
        const own = ['x-request-id', 'date', 'connection', 'keep-alive', 'ratelimit-remaining']
        return Object.fromEntries([...response.headers].filter(([name]) => !own.includes(name)))
      }
      expect([head.status, await head.text(), outcome(head)]).toEqual([200, '', outcome(get)])
    }
  })

  it('is not sent again when If-None-Match names its tag', async () => {
    const file = await uploaded('hello')
    for (const [url, headers] of ways(file)) {
      for (const tag of [`"${file.id}"`, `W/"${file.id}"`, `"other", "${file.id}"`, '*']) {
        const { status, headers: outcome } = await fetch(url, { headers: { ...headers, 'if-none-match': tag } })
        expect([tag, status, outcome.get('etag')]).toEqual([tag, 304, `"${file.id}"`])
      }
      expect((await fetch(url, { headers: { ...headers, 'if-none-match': '"other"' } })).status).toBe(200)
    }
  })

  it('is not sent again when If-Modified-Since is not earlier than its last change, unless If-None-Match differs', async () => {
    for (const [url, headers] of ways(await uploaded('hello'))) {
      const changed = (await fetch(url, { headers })).headers.get('last-modified') as string
      const ask = async (since: string, more = {}) =>
        (await fetch(url, { headers: { ...headers, ...more, 'if-modified-since': since } })).status
      expect(await ask(changed)).toBe(304)
      expect(await ask(new Date(Date.parse(changed) + 1_000).toUTCString())).toBe(304)
      expect(await ask(new Date(Date.parse(changed) - 1_000).toUTCString())).toBe(200)
      expect(await ask('yesterday')).toBe(200)
      expect(await ask(changed, { 'if-none-match': '"other"' })).toBe(200)
    }
  })
})

describe('a range request', () => {
  const content = Buffer.from('0123456789')

  it.each<[string, string, string]>([
    ['bytes=0-0', '0', 'bytes 0-0/10'],
    ['bytes=2-4', '234', 'bytes 2-4/10'],
    ['bytes=7-', '789', 'bytes 7-9/10'],
    ['bytes=7-99', '789', 'bytes 7-9/10'],
    ['bytes=-3', '789', 'bytes 7-9/10'],
    ['bytes=-99', '0123456789', 'bytes 0-9/10'],
    ['Bytes=2-4', '234', 'bytes 2-4/10'],
  ])('for %s returns %s', async (range, part, outcome) => {
    for (const [url, headers] of ways(await uploaded(content))) {
      const answer = await fetch(url, { headers: { ...headers, range } })
      expect([answer.status, await answer.text()]).toEqual([206, part])
      expect([answer.headers.get('content-range'), answer.headers.get('content-length')]).toEqual([outcome, String(part.length)])
    }
  })

  it.each(['bytes=10-', 'bytes=99-100', 'bytes=-0', `bytes=${'9'.repeat(30)}-`])('for %s is answered with 416', async (range) => {
    for (const [url, headers] of ways(await uploaded(content))) {
      const answer = await fetch(url, { headers: { ...headers, range } })
      expect([answer.status, answer.headers.get('content-range')]).toEqual([416, 'bytes */10'])
      expect(await answer.json()).toEqual({ error: { code: 'VALIDATION_ERROR', message: expect.stringMatching(/^Range: /) } })
      expect([answer.headers.get('cache-control'), answer.headers.get('etag')]).toEqual(['no-store', null])
    }
  })

  it.each(['bytes=0-1,3-4', 'bytes=4-2', 'bytes=', 'bytes=-', 'bytes=a-b', 'lines=1-2', 'bytes=0x0-1', ''])(
    'for "%s" returns the whole file',
    async (range) => {
      const [[url, headers]] = ways(await uploaded(content)) as [[string, Record<string, string>]]
      const answer = await fetch(url, { headers: { ...headers, range } })
      expect([answer.status, await answer.text()]).toEqual([200, '0123456789'])
    },
  )

  it('returns the part if If-Range names the tag of the file, and the whole file otherwise', async () => {
    const file = await uploaded(content)
    const ask = async (ifRange: string) => {
      const answer = await fetch(file.url, { headers: { range: 'bytes=0-1', 'if-range': ifRange } })
      return [answer.status, await answer.text()]
    }
    expect(await ask(`"${file.id}"`)).toEqual([206, '01'])
    expect(await ask('"other"')).toEqual([200, '0123456789'])
    expect(await ask('Wed, 21 Oct 2015 07:28:00 GMT')).toEqual([200, '0123456789'])
  })

  it.each(['bytes=0-1', 'bytes=99-'])('is ignored for HEAD: %s', async (range) => {
    for (const [url, headers] of ways(await uploaded(content))) {
      const { status, headers: outcome } = await fetch(url, { method: 'HEAD', headers: { ...headers, range } })
      expect([status, outcome.get('content-length'), outcome.get('content-range')]).toEqual([200, '10', null])
    }
  })

  it('splits a file without a gap or an overlap, wherever it is cut', () => {
    for (const size of [1, 2, 10, 4096]) {
      for (const cut of [1, 2, size - 1, size].filter((at) => at >= 1 && at < size)) {
        expect(readRange(`bytes=0-${cut - 1}`, size)).toEqual({ start: 0, end: cut - 1 })
        expect(readRange(`bytes=${cut}-`, size)).toEqual({ start: cut, end: size - 1 })
      }
    }
  })
})

describe('a public URL', () => {
  it('that was not issued answers 404', async () => {
    const { url } = await uploaded('hello')
    const token = url.match(/[\w-]{43}/)?.[0] as string
    const wrong = [
      `/media/${token}`,
      `/media/${token}.pdf`,
      `/media/${token}.TXT`,
      `/media/${token}.txt.txt`,
      `/media/${token.slice(1)}.txt`,
      `/media/${token.startsWith('x') ? 'y' : 'x'}${token.slice(1)}.txt`,
      `/media/${token}%2Etxt%00`,
      '/media/',
      '/media/incoming',
      '/media/..%2f..%2fsecret-key',
      `/media/${'a'.repeat(15_000)}.txt`,
    ]
    for (const at of wrong) {
      const answer = await fetch(rig.gateway.url + at)
      expect([at, answer.status, answer.headers.get('cache-control')]).toEqual([at, 404, 'no-store'])
      expect((await answer.json()).error.code).toBe('NOT_FOUND')
    }
  })

  it('accepts only GET and HEAD', async () => {
    const { url } = await uploaded('hello')
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const answer = await fetch(url, { method })
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    }
  })

  it('answers 404 when its file is gone, and a log line informs the operator', async () => {
    const file = await uploaded('hello')
    rmSync(path.join(dataDir, 'media', file.id))
    for (const [url, headers] of ways(file)) {
      const answer = await fetch(url, { headers })
      expect([answer.status, answer.headers.get('etag')]).toEqual([404, null])
    }
    await until(() => rig.gateway.logs.filter((line) => line.includes(file.id)).length === 2)
  })
})

describe.skipIf(process.platform !== 'linux')('a client that disconnects', () => {
  it('makes the gateway close the open file', async () => {
    const { url } = await uploaded(sized('application/pdf', 60 * 1024 * 1024))
    const { hostname, port, pathname } = new URL(url)
    // Counts files only, because idle connections of other tests come and go.
    const heldOpen = () => openFiles(dataDir)
    await until(() => heldOpen() === 0)
    const sockets = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const socket = connect(Number(port), hostname)
        socket.write(`GET ${pathname} HTTP/1.1\r\nHost: x\r\n\r\n`)
        await new Promise((resolve) => socket.once('data', resolve))
        socket.pause()
        return socket
      }),
    )
    expect(heldOpen()).toBe(20)
    for (const socket of sockets) socket.destroy()
    await until(() => heldOpen() === 0)
  })
})
