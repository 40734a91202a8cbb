// Accounts of the loopback network with their linked devices, and what phones read.
import type { BinaryNode, proto } from 'baileys'
import type { WebSocket } from 'ws'
import type { CodeEntry } from './loopback-code.ts'
import type { DeviceKeys } from './loopback-phone.ts'

/** A message as a phone reads it. A repeat under an id that the phone has seen is counted and not shown again. */
export interface Arrived {
  id: string
  /** Digits of the account that sent it, and of the phone that got it. */
  from: string
  to: string
  message: proto.IMessage
  /** The stanza's children besides the recipients. */
  tags: string[]
  repeats: number
  /** By `performance.now()`. */
  at: number
}

export interface Connection {
  ws: WebSocket
  send: (node: BinaryNode) => void
  /** The path of the socket's address, by which a test tells processes apart. */
  path: string
  /** How many nodes the device sent. */
  nodes: number
  /** Digits of the account, once it is paired. */
  account?: string
  registration?: proto.ClientPayload.IDevicePairingRegistrationData | null
  /** The device's request for a code, and the phone's part once the code was entered. */
  hello?: BinaryNode
  entry?: CodeEntry & { digits: string }
}

/** An account with one linked device. */
export interface Account {
  digits: string
  keys: DeviceKeys
  connection?: Connection
  /** Stanzas that the device has not confirmed, by id. */
  queue: Map<string, BinaryNode>
  removed: boolean
}
