// The reasons for which messages fail, as the filter offers them.
import type { MessageErrorCode } from '../generated/messages/graphql.ts'

/** A record, so that a code which the gateway adds is missed by the type check. */
const known: Record<MessageErrorCode, true> = {
  RECIPIENT_NOT_FOUND: true,
  UNDELIVERABLE: true,
  EXPIRED: true,
  OPTED_OUT: true,
  RECIPIENT_SUPPRESSED: true,
  OUTSIDE_WINDOW: true,
  NOT_DELIVERED_BY_POLICY: true,
  MEDIA_REJECTED: true,
  TEMPLATE_INVALID: true,
  TEMPLATE_REJECTED: true,
  UNSUPPORTED_TYPE: true,
  ACCOUNT_RESTRICTED: true,
  AUTH_INVALID: true,
  CONNECTION_LOST: true,
  TEMPORARILY_UNAVAILABLE: true,
  PROVIDER_ERROR: true,
  UNKNOWN_OUTCOME: true,
  LEASE_LOST: true,
  INSTANCE_DELETED: true,
  CONTACT_DELETED: true,
  MONTHLY_OUTBOUND_QUOTA_EXCEEDED: true,
  SUBSCRIPTION_INACTIVE: true,
}

export const errorCodes = Object.keys(known) as MessageErrorCode[]
