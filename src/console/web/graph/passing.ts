// Failures that pass: the same request may succeed a moment later.

const codes: readonly string[] = ['OFFLINE', 'SERVICE_UNAVAILABLE', 'API_RATE_LIMIT_EXCEEDED']

/** True for failures that are over when the gateway is back. */
export function passes({ code }: { code: string }): boolean {
  return codes.includes(code)
}
