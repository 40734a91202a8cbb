// Incremental JSON parser. It splits a long text at commas, adds the brackets that are open around each piece, and parses each
// piece with JSON.parse. So it never holds the whole text, and no piece blocks the event loop for more than some milliseconds.
import { randomUUID } from 'node:crypto'
import { JsonFault, JsonScanner, notJson } from './json-scan.ts'

/** A piece ends at the first comma after this many bytes. */
export const pieceBytes = 64 * 1024

type Container = unknown[] | Record<string, unknown>

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const nothing = Buffer.alloc(0)
/** Placeholder name of the member that continues from the piece before. It is random, so no request can contain it. */
const continued = randomUUID()

/** Parses one JSON value. @throws JsonFault from every method when the bytes are out of bounds or cannot become valid JSON. */
export class JsonPieces {
  readonly #scanner: JsonScanner
  readonly #cutBytes: number
  /** The first {@link #length} bytes are not parsed yet; the rest is spare capacity. */
  #buffer: Buffer = nothing
  #length = 0
  /** The memory behind {@link #buffer}, if this class allocated it. */
  #own: ArrayBuffer | null = null
  #scanned = 0
  #value: unknown
  /** The containers that were open at the last split, outermost first. */
  #path: Container[] = []
  /** For each object of {@link #path}, the member whose value is still open. */
  #names: (string | undefined)[] = []

  constructor(mostValues: number, cutBytes = pieceBytes) {
    this.#scanner = new JsonScanner(mostValues)
    this.#cutBytes = cutBytes
  }

  write(block: Buffer): void {
    this.#append(block)
    for (;;) {
      const bytes = this.#buffer.subarray(0, this.#length)
      const at = this.#scanner.scan(bytes, this.#scanned, this.#cutBytes)
      this.#scanned = at
      if (at >= bytes.length) break
      this.#parse(bytes.subarray(0, at))
      this.#buffer = this.#buffer.subarray(at + 1)
      this.#length -= at + 1
      this.#scanned = 0
    }
  }

  end(): unknown {
    if (this.#scanner.open.length > 0) throw new JsonFault(notJson)
    this.#parse(this.#buffer.subarray(0, this.#length))
    this.#free()
    return this.#value
  }

  /** Frees the buffer without waiting for garbage collection. */
  #free(): void {
    this.#own?.transfer(0)
    this.#own = null
  }

  #append(block: Buffer): void {
    const length = this.#length + block.length
    if (this.#length === 0) {
      this.#free()
      this.#buffer = block
    } else {
      if (length > this.#buffer.length) {
        // Double the capacity, so that appending stays linear in the length of a long string.
        const larger = Buffer.allocUnsafeSlow(2 * length)
        this.#buffer.copy(larger, 0, 0, this.#length)
        this.#free()
        this.#buffer = larger
        this.#own = larger.buffer
      }
      block.copy(this.#buffer, this.#length)
    }
    this.#length = length
  }

  #parse(bytes: Buffer): void {
    const { open, lowestDepth } = this.#scanner
    const depth = this.#path.length
    if (depth + open.length === 0) {
      // Fast path: the text is a single piece.
      this.#value = parse(utf8Of(bytes))
      return
    }
    const before = this.#path.map((container, level) => {
      if (Array.isArray(container)) return '['
      return level === depth - 1 ? '{' : `{"${continued}":`
    })
    const after = open.map(({ isList }) => (isList ? ']' : '}')).reverse()
    const value = parse([...before, utf8Of(bytes), ...after].join(''))
    if (depth === 0) this.#value = value
    else join(this.#path, value as Container)
    // A container that stayed open keeps its member's name unless this piece has started a newer member.
    const stillOpen = Math.min(lowestDepth, depth)
    this.#names = open.map((container, level) => {
      const { nameStart, nameEnd } = container
      container.nameStart = -1
      if (nameStart < 0) return level < stillOpen ? this.#names[level] : undefined
      return JSON.parse(`"${utf8Of(bytes.subarray(nameStart, nameEnd))}"`) as string
    })
    this.#path = this.#path.slice(0, stillOpen)
    for (let level = stillOpen; level < open.length; level++) {
      const outer = this.#path[level - 1]
      const inner = !outer ? this.#value : Array.isArray(outer) ? outer.at(-1) : outer[this.#names[level - 1] as string]
      this.#path.push(inner as Container)
    }
    this.#scanner.lowestDepth = open.length
  }
}

/** Appends the contents of a piece to the containers that were open before it. */
function join(path: readonly Container[], piece: Container): void {
  let next = piece
  path.forEach((container, level) => {
    const isDeepest = level === path.length - 1
    if (Array.isArray(container)) {
      const items = next as unknown[]
      for (let index = isDeepest ? 0 : 1; index < items.length; index++) container.push(items[index])
      next = items[0] as Container
    } else {
      const { [continued]: inner, ...members } = next as Record<string, unknown>
      Object.assign(container, members)
      next = inner as Container
    }
  })
}

function utf8Of(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new JsonFault(notJson)
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new JsonFault(notJson)
  }
}
