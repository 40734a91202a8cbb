// Ids are UUID v7: they sort by time of making, so indexes grow at one end.
import { v7 } from 'uuid'

export function newId(): string {
  return v7()
}

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Whether a text is an id as we write them, in lower case. */
export function isId(value: unknown): value is string {
  return typeof value === 'string' && form.test(value)
}
