// The reasons for which messages fail or are cancelled: each with its meaning, its cause, and whether another try makes sense.

interface MessageError {
  meaning: string
  /** The party that can change it. */
  cause: 'sender' | 'recipient' | 'plan' | 'network' | 'gateway'
  /** Advice on sending the same message again, in a few words. */
  again: string
}

export const messageErrors = {
  RECIPIENT_NOT_FOUND: { meaning: 'The number is not on the network.', cause: 'sender', again: 'No; check the number.' },
  RECIPIENT_SUPPRESSED: {
    meaning: 'The number is in the do-not-contact list of the workspace.',
    cause: 'recipient',
    again: 'No, until it is taken out.',
  },
  OPTED_OUT: { meaning: 'The recipient told the network that no messages are wanted.', cause: 'recipient', again: 'No.' },
  OUTSIDE_WINDOW: {
    meaning: 'The recipient has not written in the last 24 hours, and the network then takes only approved templates.',
    cause: 'sender',
    again: 'Yes, as an approved template, or after the recipient has written.',
  },
  NOT_DELIVERED_BY_POLICY: {
    meaning: 'The network withheld the message, because the recipient gets enough of this kind or takes part in an experiment.',
    cause: 'network',
    again: 'Not within a day.',
  },
  TEMPLATE_REJECTED: {
    meaning: 'The network does not know or does not approve the template, or its values do not fit.',
    cause: 'sender',
    again: 'Once the template is right.',
  },
  MEDIA_REJECTED: {
    meaning: 'The file could not be fetched, or the network does not take a file of this type or size.',
    cause: 'sender',
    again: 'Yes, with another file.',
  },
  UNSUPPORTED_TYPE: { meaning: 'The network does not take messages of this type.', cause: 'sender', again: 'No.' },
  AUTH_INVALID: {
    meaning: 'The network refused the login of the instance, which is disconnected.',
    cause: 'sender',
    again: 'Yes, once the instance is connected again, with a new token or with the same one.',
  },
  CONTACT_DELETED: { meaning: 'The contact was deleted after the campaign was made.', cause: 'sender', again: 'No.' },
  TEMPLATE_INVALID: {
    meaning: 'A value of the template is missing, or the text is too long.',
    cause: 'sender',
    again: 'Yes, with the value.',
  },
  UNDELIVERABLE: { meaning: 'The network could not deliver the message.', cause: 'network', again: 'Yes, later.' },
  ACCOUNT_RESTRICTED: {
    meaning: 'The network restricts the account of the instance.',
    cause: 'sender',
    again: 'Not before the restriction ends.',
  },
  SUBSCRIPTION_INACTIVE: {
    meaning: 'The subscription was inactive when the message was to leave.',
    cause: 'plan',
    again: 'Yes, with a usable subscription.',
  },
  MONTHLY_OUTBOUND_QUOTA_EXCEEDED: {
    meaning: 'The quota was used up when the message was to leave.',
    cause: 'plan',
    again: 'Yes, in the next period.',
  },
  INSTANCE_DELETED: {
    meaning: 'The instance was deleted before the message left.',
    cause: 'sender',
    again: 'Yes, from another instance.',
  },
  EXPIRED: {
    meaning: 'The message waited too long for its instance to connect.',
    cause: 'sender',
    again: 'Yes, once the instance is connected.',
  },
  CONNECTION_LOST: { meaning: 'The connection of the instance broke at every attempt.', cause: 'network', again: 'Yes, later.' },
  TEMPORARILY_UNAVAILABLE: { meaning: 'The network was not available at any attempt.', cause: 'network', again: 'Yes, later.' },
  UNKNOWN_OUTCOME: {
    meaning: 'The network never said whether it took the message, which may have been sent.',
    cause: 'network',
    again: 'Only if the recipient may get it twice.',
  },
  PROVIDER_ERROR: { meaning: 'The network refused the message for another reason.', cause: 'network', again: 'Yes, later.' },
  LEASE_LOST: { meaning: 'The process that was to send the message stopped at every attempt.', cause: 'gateway', again: 'Yes.' },
} as const satisfies Record<string, MessageError>

export type MessageErrorCode = keyof typeof messageErrors

/** The code of a stored error: an error that only one network knows is a `PROVIDER_ERROR`. */
export function messageErrorOf(error: string | null): MessageErrorCode | null {
  if (error === null) return null
  return Object.hasOwn(messageErrors, error) ? (error as MessageErrorCode) : 'PROVIDER_ERROR'
}

/** The table in the OpenAPI documents, as Markdown. */
export function messageErrorTable(): string {
  const lines = Object.entries(messageErrors).map(
    ([code, { meaning, cause, again }]) => `| \`${code}\` | ${meaning} | ${cause} | ${again} |`,
  )
  return ['| `error` | Meaning | Cause | Send it again? |', '|---|---|---|---|', ...lines].join('\n')
}
