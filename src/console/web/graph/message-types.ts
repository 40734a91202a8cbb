// The types of messages, in the order in which lists offer them.
import type { MessageType, SendType } from '../generated/graphql.ts'

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
