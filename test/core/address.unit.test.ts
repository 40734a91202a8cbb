// Proves which URLs are accepted as targets: every spelling of a private address or name, and everything that is no URL, is
// refused.
import { describe, expect, it } from 'vitest'
import { checkTarget, isReachable, isReachableBy, serverOf } from '../../src/core/network/address.ts'

const privateAddresses = [
  ...['0x7f.1', '2130706433', '017700000001', '127.1', '0', '①②⑦.⓪.⓪.①', '１２７.０.０.１', '169。254。169。254'],
  ...['[::ffff:127.0.0.1]', '[::127.0.0.1]', '[::]', '[::1]', '[64:ff9b::a9fe:a9fe]', '[64:ff9b:1::1]', '[2002:a9fe:a9fe::]'],
  ...[
    '[2001::1]',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '[5f00::1]',
    '[100::1]',
    '[3fff::1]',
    '[2001:db8::1]',
    '[fec0::1]',
    '[4000::1]',
  ],
  ...['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '127.0.0.1', '169.254.169.254', '100.64.0.1', '0.1.2.3'],
  ...['192.0.0.192', '192.88.99.1', '198.18.0.1', '192.0.2.1', '198.51.100.1', '203.0.113.1', '224.0.0.1', '240.0.0.1'],
  ...['255.255.255.255', '168.63.129.16', '100.100.100.200', '[ff02::1]', '[::ffff:0:7f00:1]'],
]
const privateNames = [
  ...[
    'localhost',
    'localhost.',
    'LOCALHOST',
    'foo.localhost',
    'metadata.google.internal',
    'metadata.google.internal.',
    'intranet',
  ],
  ...['printer.local', 'db.lan', 'box.localdomain', 'router.home.arpa'],
]
const notUrls = [
  ...[
    'file:///etc/passwd',
    'gopher://example.com/',
    'ftp://example.com/',
    'data:text/plain,hi',
    'javascript:alert(1)',
    'ws://example.com',
  ],
  ...[
    'https:example.com',
    'https:/example.com',
    'https:///127.0.0.1',
    'https://',
    '//example.com',
    'example.com',
    '',
    'https://exa mple.com',
  ],
  ...[
    'https://example.com\\@169.254.169.254',
    'https://example.com\n',
    '\thttps://example.com',
    'https://exam\tple.com',
    'https://a..b.com',
  ],
  ...[
    `https://${'a'.repeat(300)}.com`,
    `https://${'a.'.repeat(130)}com`,
    'https://example.com:99999',
    'https://[::1',
    'https://1.2.3.4.5',
  ],
]

describe.each(['webhook', 'media'] as const)('a %s target', (purpose) => {
  const check = (url: string, allowed: string[] = []) => checkTarget(url, allowed, purpose)

  it.each(privateAddresses)('refuses the private address %s', (host) => {
    expect(check(`https://${host}`)).toBe(
      'must not lead to a private network, unless the operator allows it by ALLOWED_PRIVATE_TARGETS',
    )
    expect(check(`https://${host}:8443/path?query`)).toBe(
      'must not lead to a private network, unless the operator allows it by ALLOWED_PRIVATE_TARGETS',
    )
  })

  it.each(privateNames)('refuses the private name %s', (host) => {
    expect(check(`https://${host}/`)).toBe(
      'must not lead to a private network, unless the operator allows it by ALLOWED_PRIVATE_TARGETS',
    )
    expect(check(`https://${host}/`, ['127.0.0.1/32'])).toBe(
      'must not lead to a private network, unless the operator allows it by ALLOWED_PRIVATE_TARGETS',
    )
  })

  it.each(notUrls)('refuses %j', (url) => {
    expect(check(url)).toMatch(/^must be an absolute http/)
  })

  it.each([22, 25, 80, 0, 110, 1023, 5432, 6379, 11211])('refuses port %i for https', (port) => {
    expect(check(`https://example.com:${port}/`)).toMatch(/port/)
  })

  it('refuses credentials in the URL, whichever side the real host is on', () => {
    expect(check('https://example.com@169.254.169.254')).toMatch(/user name/)
    expect(check('https://169.254.169.254@example.com')).toMatch(/user name/)
    expect(check('https://user:pass@example.com')).toMatch(/user name/)
  })

  it('checks the host before a fragment', () => {
    expect(check('https://169.254.169.254#@example.com')).toBeDefined()
  })

  it('refuses more than 2048 characters', () => {
    expect(check(`https://example.com/${'a'.repeat(2048 - 20)}`)).toBeUndefined()
    expect(check(`https://example.com/${'a'.repeat(2049 - 20)}`)).toMatch(/2048/)
  })

  it.each([
    'https://example.com',
    'https://1.2.3',
    'https://8.8.8.8',
    'https://[2606:4700::1111]',
    'https://bücher.example/ä?ö',
    'https://a.co:8443',
  ])('accepts %s', (url) => {
    expect(check(url)).toBeUndefined()
  })

  it('accepts only addresses of an allowed network, over http and on any port too', () => {
    expect(check('http://127.0.0.1:6379/', ['127.0.0.1/32'])).toBeUndefined()
    expect(check('https://127.1', ['127.0.0.1/32'])).toBeUndefined()
    expect(check('http://[fd00::5]/', ['10.0.0.0/8', 'fd00::/8'])).toBeUndefined()
    expect(check('http://127.0.0.2/', ['127.0.0.1/32'])).toBe(
      'must not lead to a private network, unless the operator allows it by ALLOWED_PRIVATE_TARGETS',
    )
    expect(check('http://[::1]/', ['127.0.0.1/32'])).toBe(
      'must not lead to a private network, unless the operator allows it by ALLOWED_PRIVATE_TARGETS',
    )
  })
})

it('accepts plain http on the public internet for media, not for webhooks', () => {
  expect(checkTarget('http://example.com/a.jpg', [])).toBeUndefined()
  expect(checkTarget('http://example.com/', [], 'webhook')).toBe('must be an absolute https URL')
  expect(checkTarget('http://8.8.8.8/', ['127.0.0.1/32'], 'webhook')).toBe('must be an absolute https URL')
})

it('refuses a fragment in a webhook', () => {
  expect(checkTarget('https://example.com/#here', [], 'webhook')).toBe('must not have a fragment')
})

it('judges an IPv4-mapped address by the address that it maps to', () => {
  expect(isReachable('::ffff:127.0.0.1', [])).toBe(false)
  expect(isReachable('::ffff:127.0.0.1', ['127.0.0.0/8'])).toBe(true)
  expect(isReachable('::ffff:8.8.8.8', [])).toBe(true)
  expect(isReachable('not an address', ['0.0.0.0/0'])).toBe(false)
})

describe('the server of a URL', () => {
  it.each([
    [
      'https://my.host',
      'https://MY.HOST/',
      'https://my.host.',
      'https://my.host:443/x',
      'http://my.host:80',
      'https://my。host．',
    ],
    ['https://bücher.example:8443', 'https://BÜCHER.example.:8443', 'https://xn--bcher-kva.example:8443'],
    [
      'https://8.8.8.8',
      'https://134744072',
      'https://0x8.8.8.8',
      'https://010.8.8.8',
      'https://[::ffff:8.8.8.8]',
      'https://8.8.8.8.',
    ],
    ['https://[2606:4700::1111]:4000', 'https://[2606:4700:0:0:0:0:0:1111]:4000', 'https://[2606:4700::1111]:04000'],
    [
      ...['http://localhost:4000', 'http://LOCALHOST.:4000', 'http://127.0.0.1:4000', 'http://127.1:4000', 'http://[::1]:4000'],
      ...[
        'http://0.0.0.0:4000',
        'http://[::]:4000',
        'http://[::ffff:127.0.0.1]:4000',
        'http://2130706433:4000',
        'http://a.localhost:4000',
      ],
    ],
  ])('is the same in every spelling: %s', (...urls) => {
    expect([...new Set(urls.map((url) => serverOf(new URL(url))))]).toHaveLength(1)
  })

  it('differs for another name, address or port', () => {
    const urls = [
      'https://my.host',
      'https://my.host:444',
      'https://www.my.host',
      'https://my.hosts',
      'https://8.8.8.8',
      'https://8.8.4.4',
    ]
    const local = ['http://localhost:4000', 'http://localhost:4001', 'http://localhost.example:4000', 'http://10.0.0.1:4000']
    expect(new Set([...urls, ...local].map((url) => serverOf(new URL(url)))).size).toBe(urls.length + local.length)
  })
})

it('reaches public addresses over http for files only, and private ones that are allowed for both', () => {
  const ways = (address: string, allowed: string[]) =>
    (['media', 'webhook'] as const).flatMap((purpose) =>
      ['http:', 'https:'].map((protocol) => isReachableBy(protocol, address, allowed, purpose)),
    )
  expect(ways('8.8.8.8', [])).toEqual([true, true, false, true])
  expect(ways('10.0.0.7', [])).toEqual([false, false, false, false])
  expect(ways('10.0.0.7', ['10.0.0.0/8'])).toEqual([true, true, true, true])
})
