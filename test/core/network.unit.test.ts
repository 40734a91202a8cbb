// Proves by which network anonymous requests are counted.
import { expect, it } from 'vitest'
import { networkOf } from '../../src/core/network/network.ts'

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['::1', '::/64'],
  ['unix', 'unix'],
])('maps the address %s to %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})
