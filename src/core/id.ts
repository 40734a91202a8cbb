// Ids are UUID v7: they sort by time of making, so indexes grow at one end.
import { v7 } from 'uuid'

export function newId(): string {
  return v7()
}
