// Proves that outbound requests trust only a certificate that is valid for the host, whatever the environment says.
import { describe, expect, it } from 'vitest'
import { openReceiver, status } from '../webhooks/receiver.ts'
import { makeCertificate } from './certificate.ts'
import { egressWith, post } from './egress-rig.ts'

describe('certificates', () => {
  const authority = makeCertificate({ address: '127.0.0.1' })
  const egress = () => egressWith({ ca: authority.cert })

  it('that are valid are accepted', async () => {
    const receiver = await openReceiver(status(200), makeCertificate({ address: '127.0.0.1', issuer: authority }))
    expect(await post(egress(), receiver.url)).toMatchObject({ outcome: 'response', status: 200 })
  })

  it.each([
    ['signed by themselves', 'tls_self_signed', () => makeCertificate({ address: '127.0.0.1' })],
    ['expired', 'tls_expired', () => makeCertificate({ address: '127.0.0.1', days: -1, issuer: authority })],
    ['for another host', 'tls_wrong_host', () => makeCertificate({ address: '127.0.0.9', issuer: authority })],
  ] as const)('that are %s fail as %s', async (_, reason, make) => {
    const receiver = await openReceiver(status(200), make())
    expect(await post(egress(), receiver.url)).toEqual({ outcome: 'error', reason })
    expect(receiver.requests).toEqual([])
  })

  it('are verified even if the environment disables verification', async () => {
    const receiver = await openReceiver(status(200), makeCertificate({ address: '127.0.0.1' }))
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    try {
      expect(await post(egress(), receiver.url)).toEqual({ outcome: 'error', reason: 'tls_self_signed' })
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    }
  })

  it('that are valid do not make an outdated TLS version acceptable', async () => {
    const own = makeCertificate({ address: '127.0.0.1', issuer: authority })
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
    const receiver = await openReceiver(status(200), { ...own, ...old })
    expect(await post(egress(), receiver.url)).toEqual({ outcome: 'error', reason: 'tls_failed' })
  })
})
