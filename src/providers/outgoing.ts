// The messages that a provider sends, and the outcome of an attempt.
import type { MessageType } from '../generated/prisma/enums.ts'

/** Messages of other types only come in. */
export type OutgoingType = Exclude<MessageType, 'unknown'>

/** MIME type of a voice note, as media of the gateway carry it. */
export const voiceType = 'audio/ogg; codecs=opus'

/** The only MIME type that real networks take for a type of message. A type that is not listed may have several. */
const onlyTypes: Partial<Record<OutgoingType, { mimeType: string; fault: string }>> = {
  voice_note: { mimeType: voiceType, fault: 'must be Ogg with Opus for a voice note' },
}

/** For `faultOfFile` of a connector: the rules that real networks share. */
export function faultOfFile(type: OutgoingType, mimeType: string): string | undefined {
  const only = onlyTypes[type]
  return only && only.mimeType !== mimeType ? only.fault : undefined
}

/** Detail of a message whose file was deleted from our store. */
export const goneText = 'the file is no longer stored'

/** The data of a message besides `body` and `mediaUrl`, by type. Types that are not listed have none. */
export interface ContentByType {
  location: { kind: 'location'; latitude: number; longitude: number; name: string | null; address: string | null }
  contact: { kind: 'contact'; name: string; phone: string }
  buttons: {
    kind: 'buttons'
    title: string | null
    footer: string | null
    buttons: { type: 'reply'; displayText: string; id: string }[]
  }
}

export type OutgoingContent = ContentByType[keyof ContentByType]
export type ContentOf<Type extends OutgoingType> = Type extends keyof ContentByType ? ContentByType[Type] : null

/** A template that the network approved, with its values filled in. Networks without such templates send `body`. */
export interface ApprovedTemplate {
  name: string
  language: string
  parameters: readonly string[]
  /** The network's names of the parameters, in the same order, if it tells them apart by name and not by position. */
  names?: readonly string[]
}

/** A template that the network approved, to be imported. `unfit` says in words why it cannot be. */
export type NetworkTemplate = { name: string; language: string } & (
  | {
      /** The text, with `{{custom.1}}` or `{{custom.order}}` for its parameters. */
      body: string
      /** The names of those values, in the order of the parameters: `custom.1`. */
      parameters: string[]
      names?: string[]
    }
  | { unfit: string }
)

interface OutgoingOf<Type extends OutgoingType> {
  /** The gateway's own id, and the same on every attempt. */
  messageId: string
  /** The number of this attempt, from 1. Those that waited because the network asked for it are not counted. */
  attempt?: number
  to: string
  type: Type
  /** The text, the caption, or what stands for the content in a list. */
  body: string
  mediaUrl: string | null
  content: ContentOf<Type>
  template: ApprovedTemplate | null
}

/** An outgoing message. Its `type` says what its `content` is. */
export type OutgoingMessage = { [Type in OutgoingType]: OutgoingOf<Type> }[OutgoingType]

/**
 * The messages that wait with one that is to be tried later: those to the same recipient, of the same instance, or of the account. With
 * `connection`, the messages of the instance wait until a process reports that it can send for it; this hold has no time limit.
 */
export type Hold = { of: 'recipient' } | { of: 'instance' } | { of: 'account'; account: string } | { of: 'connection' }

/**
 * Outcome of an attempt to send. With `unknown`, the provider may have accepted the message, so it must not be sent again blindly. With
 * `offline`, the connection was gone before the message could be handed over; with `holds`, the network asked to wait. Neither counts as an
 * attempt, and the message is tried until it expires. With `mayHaveLeft`, the network may have accepted the message, and deduplicates the
 * next try: as after `unknown`, nothing but the network's answer says that it was not sent. With `byGateway`, the gateway refused the message
 * before it handed it over, which says nothing of an earlier attempt. `detail` is the reason in words, as a rule those of the network.
 */
export type SendOutcome =
  | { outcome: 'accepted'; providerMessageId: string }
  | { outcome: 'refused'; error: string; detail?: string; restricted?: boolean; byGateway?: boolean }
  | { outcome: 'retry'; error: string; detail?: string; afterMs?: number; offline?: boolean; mayHaveLeft?: boolean; holds?: Hold }
  | { outcome: 'unknown'; error: string; detail?: string }

/** Error of a message whose recipient told the network that no messages are wanted. The gateway writes to that number no more. */
export const optedOut = 'OPTED_OUT'
