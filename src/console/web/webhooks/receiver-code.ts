// A receiver that verifies its deliveries, to be copied.

/** It is that of the guide of webhooks, without its server. */
export const receiverCode = `import { Webhook } from 'standardwebhooks'

const webhook = new Webhook('whsec_…')

// The body as it came: parsed and printed again it is another one. Throws if the signature is wrong or older than five minutes.
const event = webhook.verify(body, request.headers)
`
