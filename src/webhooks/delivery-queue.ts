// The queue of one endpoint: how many attempts may be made at once, and whether deliveries wait for that.

export interface DeliveryQueue {
  /** Concurrent attempts that the endpoint may have. */
  width: number
  busy: number
  /** True if deliveries wait in the database for capacity. */
  behind: boolean
  /** True while waiting deliveries are read. Capacity that is freed meanwhile adds up. */
  refilling: boolean
}

/** The width is `firstWidth` at first, twice as much after each success up to `fullWidth`, and `failingWidth` after a failure. */
const firstWidth = 4
const fullWidth = 32
const failingWidth = 2
/**
 * The width of every queue while the process is crowded. A fast endpoint that stops answering keeps its width until its first attempts time out.
 * In an outage of many, 63 of them (32 attempts each) would take all 2,000 slots of a process.
 */
const crowdedWidth = 2

export function createDeliveryQueue(): DeliveryQueue {
  return { width: firstWidth, busy: 0, behind: false, refilling: false }
}

/** `isCrowded`: half of the slots of the process are taken. */
export function freeIn(queue: DeliveryQueue, isCrowded: boolean): number {
  const width = isCrowded ? Math.min(queue.width, crowdedWidth) : queue.width
  return Math.max(0, width - queue.busy)
}

/** Takes a slot for a due delivery. Returns false if none is free; the delivery then waits in the database. */
export function takeSlot(queue: DeliveryQueue, isCrowded: boolean): boolean {
  const fits = freeIn(queue, isCrowded) > 0
  if (fits) queue.busy++
  else queue.behind = true
  return fits
}

/** Begins with the width of a failing endpoint. Changes nothing once an attempt of this process has set the width. */
export function beginFailing(queue: DeliveryQueue): void {
  if (queue.width === firstWidth) queue.width = failingWidth
}

/** Sets the width by the outcome of an attempt. */
export function adapt(queue: DeliveryQueue, delivered: boolean): void {
  queue.width = delivered ? Math.min(queue.width * 2, fullWidth) : failingWidth
}

/** True if the queue may be forgotten. A failing endpoint is remembered, so that its next deliveries do not begin at the initial width. */
export function isForgettable(queue: DeliveryQueue): boolean {
  return queue.busy === 0 && queue.width !== failingWidth
}
