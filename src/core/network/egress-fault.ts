// Names what went wrong with a request to an address that a caller supplied.

export type EgressFault =
  | 'blocked_address'
  | 'name_not_resolved'
  | 'connect_failed'
  | 'connection_lost'
  | 'timeout'
  | 'interrupted'
  | 'tls_self_signed'
  | 'tls_expired'
  | 'tls_wrong_host'
  | 'tls_failed'
  | 'headers_too_large'
  | 'bad_response'

/** A request failed, or the body of its response could not be read to its end. */
export class EgressError extends Error {
  readonly code: EgressFault
  constructor(code: EgressFault) {
    super(code)
    this.code = code
  }
}

const faults: Record<string, EgressFault> = {
  // Refused, silent and unreachable servers get the same code, so that the outcomes cannot be used to scan a network.
  ECONNREFUSED: 'connect_failed',
  EHOSTUNREACH: 'connect_failed',
  ENETUNREACH: 'connect_failed',
  EADDRNOTAVAIL: 'connect_failed',
  ETIMEDOUT: 'connect_failed',
  UND_ERR_CONNECT_TIMEOUT: 'connect_failed',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls_self_signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls_self_signed',
  CERT_HAS_EXPIRED: 'tls_expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls_wrong_host',
  EPROTO: 'tls_failed',
  UND_ERR_HEADERS_OVERFLOW: 'headers_too_large',
}

export function faultOf(error: unknown): EgressFault {
  if (error instanceof EgressError) return error.code
  const code = String((error as { code?: unknown }).code)
  if (faults[code]) return faults[code]
  if (/^(ERR_SSL|ERR_TLS|CERT_|UNABLE_TO_|HOSTNAME_|INVALID_CA|INVALID_PURPOSE)/.test(code)) return 'tls_failed'
  return (error as Error).name === 'HTTPParserError' ? 'bad_response' : 'connection_lost'
}
