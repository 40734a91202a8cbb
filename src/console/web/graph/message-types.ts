// The types of messages, in the order in which lists show them. A test compares them with those of the gateway.
import type { MessageType } from '../generated/graph/graphql.ts'
import type { SendType } from '../generated/send/graphql.ts'

export const sendTypes: SendType[] = [
  'text',
  'image',
  'video',
  'audio',
  'voice_note',
  'document',
  'location',
  'contact',
  'buttons',
]

/** Those of a list: messages that come in may be of a type that the gateway does not know. */
export const messageTypes: MessageType[] = [...sendTypes, 'unknown']
