// The reasons for which messages fail, in English.
import type { MessageErrorCode } from '../generated/messages/graphql.ts'

type Reason = readonly [meaning: string, advice: string]
/** The type check names a code of the gateway that has no words. */
type Failures = Record<MessageErrorCode, Reason> & Partial<Record<string, Reason>>

export const words = {
  byCode: {
    RECIPIENT_NOT_FOUND: ['The number is not on the network.', 'Check the number with its country code.'],
    UNDELIVERABLE: ['The network gave up.', 'Send it again later.'],
    EXPIRED: ['It waited longer than it may.', 'Look why its instance was not connected, and send it again.'],
    INSTANCE_DELETED: ['Its instance was deleted.', 'Send it again through another instance.'],
    ACCOUNT_RESTRICTED: [
      'The network restricts the account of the instance.',
      'Pause sending, and read the safety of the instance.',
    ],
    OPTED_OUT: ['The recipient does not want messages.', 'Do not send to this number again.'],
    RECIPIENT_SUPPRESSED: ['The number is in the do-not-contact list.', 'Do not send to this number again.'],
    MONTHLY_OUTBOUND_QUOTA_EXCEEDED: ['The quota of the month is used up.', 'Choose a larger plan, or wait for the next month.'],
    UNKNOWN_OUTCOME: ['The network did not say whether it was sent.', 'Ask the recipient before you send it again.'],
    MEDIA_REJECTED: ['The network refused the file.', 'Check the type and size of the file.'],
    CONNECTION_LOST: ['The connection to the network was lost.', 'Send it again.'],
    OUTSIDE_WINDOW: ['The recipient has not written in the last 24 hours.', 'Use an approved template.'],
    NOT_DELIVERED_BY_POLICY: ['The network withheld it.', 'Wait a day before you write to this number again.'],
    TEMPLATE_INVALID: ['A value of the template is missing, or the text is too long.', 'Send it with the value.'],
    TEMPLATE_REJECTED: ['The network does not accept the template.', 'Correct the template, and have it approved.'],
    UNSUPPORTED_TYPE: ['The network does not take messages of this type.', 'Send another type.'],
    AUTH_INVALID: ['The network refused the login of the instance.', 'Connect the instance again, then send it again.'],
    TEMPORARILY_UNAVAILABLE: ['The network was not available.', 'Send it again later.'],
    PROVIDER_ERROR: ['The network refused it.', 'Look at the details before you send it again.'],
    LEASE_LOST: ['The process that was to send it stopped.', 'Send it again.'],
    CONTACT_DELETED: ['The contact was deleted.', 'Make the contact again before you send to this number.'],
    SUBSCRIPTION_INACTIVE: ['The subscription was not active.', 'Renew the subscription, then send it again.'],
  } satisfies Failures as Failures,
  other: ['The message could not be sent.', 'Look at the details before you send it again.'] as Reason,
}
