// Connections for many operations that this process holds, and the operations on them ("single connection" mode of graphql-sse).
import { EventEmitter } from 'node:events'
import type { ExecutionResult } from 'graphql'
import type { Context } from '../../core/context.ts'
import { fail, failure } from '../../core/errors.ts'
import type { GraphqlParams } from '../../core/graph/graph.ts'
import { publicFailure } from '../../core/public-failure.ts'
import { manages } from '../../core/roles.ts'
import type { Start } from '../log/place.ts'
import type { BoundedWriter, Ending, StreamOwner } from './bounded-writer.ts'
import type { Followed } from './fanout.ts'
import { heartbeat, retryLine, revoked, singleComplete, singleFrame, singleResult } from './frames.ts'
import type { Prepared } from './operation.ts'
import type { Streaming } from './streaming.ts'

/** An admitted request for an operation, in a form that can be sent to another process. */
export interface Asked {
  /** The client's id of the operation. */
  id: string
  caller: Pick<Context, 'principal' | 'limits' | 'features' | 'requestId' | 'idempotency'>
  params: GraphqlParams
}

export interface Accepted {
  status: 202 | 204 | 400
  /** The errors of a refused operation. */
  result?: ExecutionResult
  /** True if the result is the stored one of the same Idempotency-Key. */
  replayed: boolean
}

/** An operation that began before its connection was opened. Another process can go on with it. */
export interface Begun {
  asked: Asked
  /** The result of an operation that is not followed. */
  result?: ExecutionResult
  /** The start of a subscription to events. */
  start?: Start
}

interface Operation {
  stop: () => void
  /** Settles when the operation is accepted or refused. */
  accepted: Promise<unknown>
  begun?: Begun
}

/** A connection for many operations: reserved by a request, then opened by its client. */
export interface Connection {
  owner: StreamOwner
  writer: BoundedWriter
  /** Ends a connection that no client opens; undefined once a client has opened it. */
  expiry: NodeJS.Timeout | undefined
  /** By operation id. */
  operations: Map<string, Operation>
}

/** A connection on its way to another process. That one may be of the version before, which calls the owner `holder`. */
interface HandedOver {
  holder: StreamOwner
  operations: Begun[]
}

const reservedMs = 60_000

export type Connections = ReturnType<typeof createConnections>

/** `closed` is called with the name of each connection that ends here. */
export function createConnections({ app, hub, prepare }: Streaming, closed: (name: string) => void) {
  const connections = new Map<string, Connection>()

  /** @throws API_RATE_LIMIT_EXCEEDED when the owner has too many connections. */
  function reserve(name: string, owner: StreamOwner): Connection {
    const releaseSlot = hub.takeSlot(owner, 'connection')
    const operations: Connection['operations'] = new Map()
    const writer = hub.makeWriter({
      owner,
      heartbeat,
      farewell: (ending) => farewell(ending, [...operations.keys()]),
      closed() {
        clearTimeout(connection.expiry)
        connections.delete(name)
        for (const { stop } of [...operations.values()]) stop()
        releaseSlot()
        closed(name)
      },
    })
    const connection: Connection = { owner, writer, expiry: setTimeout(() => writer.end(), reservedMs), operations }
    connections.set(name, connection)
    return connection
  }

  /**
   * Starts an operation. Its results go to the connection.
   * @throws NOT_FOUND when the connection belongs to another credential, CONFLICT when the id is in use, and every failure of the request.
   */
  async function operate(connection: Connection, asked: Asked): Promise<Accepted> {
    const { principal } = asked.caller
    if (!isOwnedBy(connection, principal)) fail('NOT_FOUND', 'Stream not found')
    // A caller who has become a manager gets operations that end with that role.
    if (principal.role !== null && manages(principal.role)) connection.owner.role = principal.role
    return await start(connection, asked, (context) => prepare(asked.params, context))
  }

  async function start(
    { owner, writer, operations }: Connection,
    asked: Asked,
    prepared: (context: Context) => Promise<Prepared>,
  ): Promise<Accepted> {
    const { id, caller, params } = asked
    // Its client may leave while the connection is on its way to this process. Nothing would end an operation that begins after that.
    if (writer.closed) fail('NOT_FOUND', 'Stream not found')
    if (operations.has(id)) fail('CONFLICT', 'Operation with ID already exists')
    let followed: Followed | undefined
    const releaseSlot = hub.takeSlot(owner, 'operation')
    // In place of a response: its `close` releases the memory that the operation has reserved.
    const sending = Object.assign(new EventEmitter(), { destroyed: false, closed: false })
    const context: Context = { ...caller, app, response: sending }
    const isOurs = () => operations.get(id) === operation
    const stop = () => {
      // After its end, another operation may have its id.
      if (isOurs()) operations.delete(id)
      followed?.stop()
      releaseSlot()
      sending.closed = true
      sending.emit('close')
    }
    const operation: Operation = { stop, accepted: Promise.resolve() }
    operations.set(id, operation)
    const accepted = accept()
    operation.accepted = accepted.catch(() => {})
    return await accepted

    async function accept(): Promise<Accepted> {
      try {
        const found = await prepared(context)
        const replayed = context.idempotency?.replayed ?? false
        if (found.kind === 'refused') {
          stop()
          return { status: 400, result: plain(found.result), replayed }
        }
        // The operation may have been completed by a DELETE meanwhile.
        if (!isOurs()) return { status: 204, replayed }
        if (found.kind === 'result') void tell(writer, singleResult(id, found.result), isOurs).then(stop)
        else followed = await follow(writer, id, found, { stop, isOurs })
        if (!isOurs()) followed?.stop()
        operation.begun = {
          asked: { id, caller, params },
          ...(found.kind === 'result' && { result: plain(found.result) }),
          ...(found.kind === 'log' && { start: found.start }),
        }
        return { status: 202, replayed }
      } catch (error) {
        stop()
        throw error
      }
    }
  }

  async function follow(
    writer: BoundedWriter,
    id: string,
    prepared: Exclude<Prepared, { result: unknown }>,
    { stop, isOurs }: { stop: () => void; isOurs: () => boolean },
  ): Promise<Followed> {
    const frame = singleFrame(id)
    if (prepared.kind === 'log') {
      const { after, sent } = prepared.start
      return await hub.followLog(prepared.view, { writer, frame, cursor: after, sent })
    }
    const ended = () => void tell(writer, singleComplete(id), isOurs).then(stop)
    return hub.followState(prepared.view, { writer, frame, ended })
  }

  /** Gives up a connection that no client has opened, with the operations on it; null if this process holds no such connection. */
  async function handOver(name: string): Promise<HandedOver | null> {
    const connection = connections.get(name)
    if (!connection?.expiry) return null
    connections.delete(name)
    const { owner, writer, operations } = connection
    await Promise.all([...operations.values()].map(({ accepted }) => accepted))
    const begun = [...operations.values()].flatMap((operation) => operation.begun ?? [])
    const { kind, userId, credentialId, teamId, role } = owner
    writer.end()
    return { holder: { kind, userId, credentialId, teamId, role }, operations: begun }
  }

  /** Goes on with an operation that began in another process. Its failures go to the connection, because it was accepted. */
  async function resume(connection: Connection, { asked, result, start: from }: Begun): Promise<void> {
    const again = async (context: Context): Promise<Prepared> => {
      if (result) return { kind: 'result', result }
      const prepared = await prepare(asked.params, context)
      return prepared.kind === 'log' && from ? { ...prepared, start: from } : prepared
    }
    const refused = await start(connection, asked, again).then(
      (accepted) => accepted.result,
      (error): ExecutionResult => {
        const { code, message } = publicFailure(error)
        return { errors: [failure(code, message)] }
      },
    )
    if (refused) await tell(connection.writer, singleResult(asked.id, refused))
  }

  return {
    get: (name: string) => connections.get(name),
    get count() {
      return connections.size
    },
    reserve,
    operate,
    /** Ends one operation, if the connection has it. */
    complete: ({ operations }: Connection, id: string) => operations.get(id)?.stop(),
    handOver,
    resume,
  }
}

/** Compares the team too: one session may be used in several teams. */
function isOwnedBy({ owner }: Connection, { credentialId, teamId }: Pick<StreamOwner, 'credentialId' | 'teamId'>): boolean {
  return owner.credentialId === credentialId && owner.teamId === teamId
}

/** As JSON shows it: errors are class instances, which no other process could read. */
function plain(result: ExecutionResult): ExecutionResult {
  return JSON.parse(JSON.stringify(result)) as ExecutionResult
}

/** Writes once the connection is open and has capacity, if it is wanted then. Resolves when the text has left this process. */
async function tell(writer: BoundedWriter, text: string, isWanted = () => true): Promise<void> {
  const bytes = Buffer.from(text)
  while (!writer.closed && !writer.fits(1, bytes.length)) await writer.drained()
  if (isWanted()) writer.write(bytes, 1)
  await writer.drained()
}

function farewell(ending: Ending, operationIds: readonly string[]): string {
  if (ending === 'revoked') return operationIds.map((id) => singleResult(id, revoked)).join('')
  return `${retryLine()}\n${operationIds.map(singleComplete).join('')}`
}
