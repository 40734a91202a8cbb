// Tests if this machine has IPv6. Many containers have only IPv4.
import { networkInterfaces } from 'node:os'

export const hasIpv6 = Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === '::1'))
