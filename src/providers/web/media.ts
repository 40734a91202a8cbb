// Files of outgoing messages.
import type { OutgoingMessage } from '../provider.ts'
import type { ComposeOptions } from './content.ts'

/** The file of a message cannot be used, and never will. The message says why. */
export class MediaRejected extends Error {}

export interface LoadedMedia {
  bytes: Buffer
  mimetype: string
  fileName: string
  seconds: number
}

export async function loadMedia(_: ComposeOptions, message: OutgoingMessage): Promise<LoadedMedia> {
  throw new MediaRejected(`the file of a message of type ${message.type} cannot be read`)
}
