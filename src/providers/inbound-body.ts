// The text of inbound messages that have none of their own, the same on every network: what stands for the content in a list.
import type { InboundContent } from './reports.ts'

/** The name or the address of a place, or else its coordinates. */
export function placeText({ name, address, latitude, longitude }: InboundContent): string {
  return name || address || `${latitude}, ${longitude}`
}

/** The names of all contact cards. */
export function cardsText(cards: NonNullable<InboundContent['contacts']>): string {
  const names = cards.map(({ name }) => name).filter(Boolean)
  return names.join(', ')
}

/** The label of a button or of a row of a list, or else its id. */
export function choiceText(id: string | null | undefined, label: string | null | undefined): string {
  return label || id || ''
}
