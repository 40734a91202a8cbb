// Whether this machine has IPv6, which many containers have not.
import { networkInterfaces } from 'node:os'

export const hasIpv6 = Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === '::1'))
