// Proves how many attempts the queue of one endpoint may make at once.
import { describe, expect, it } from 'vitest'
import { adapt, beginFailing, createDeliveryQueue, freeIn, isForgettable, takeSlot } from '../../src/webhooks/delivery-queue.ts'

describe('the queue of an endpoint', () => {
  it('begins with four slots, and knows that a delivery without one waits', () => {
    const queue = createDeliveryQueue()
    expect([1, 2, 3, 4].map(() => takeSlot(queue, false))).toEqual([true, true, true, true])
    expect(queue.behind).toBe(false)
    expect(takeSlot(queue, false)).toBe(false)
    expect(queue).toMatchObject({ busy: 4, behind: true })
  })

  it('doubles its width with each success up to 32, and has two slots after a failure', () => {
    const queue = createDeliveryQueue()
    const widths = [true, true, true, true, false, true].map((delivered) => {
      adapt(queue, delivered)
      return queue.width
    })
    expect(widths).toEqual([8, 16, 32, 32, 2, 4])
  })

  it('has no free slot, and never fewer than none, when it narrows while it is busy', () => {
    const queue = createDeliveryQueue()
    for (let i = 0; i < 4; i++) takeSlot(queue, false)
    adapt(queue, false)
    expect(freeIn(queue, false)).toBe(0)
  })

  it('has two slots while its process is crowded, however wide it is', () => {
    const queue = createDeliveryQueue()
    for (const _ of [1, 2, 3]) adapt(queue, true)
    expect([freeIn(queue, false), freeIn(queue, true)]).toEqual([32, 2])
    expect([1, 2, 3].map(() => takeSlot(queue, true))).toEqual([true, true, false])
    expect(freeIn(queue, false)).toBe(30)
  })

  it('begins with two slots if the endpoint has failed before, unless an attempt has widened it', () => {
    const failing = createDeliveryQueue()
    beginFailing(failing)
    expect(failing.width).toBe(2)
    const wide = createDeliveryQueue()
    adapt(wide, true)
    beginFailing(wide)
    expect(wide.width).toBe(8)
  })

  it('is forgotten when nothing is in progress, unless its endpoint fails', () => {
    const queue = createDeliveryQueue()
    expect(isForgettable(queue)).toBe(true)
    takeSlot(queue, false)
    expect(isForgettable(queue)).toBe(false)
    const failing = createDeliveryQueue()
    adapt(failing, false)
    expect(isForgettable(failing)).toBe(false)
  })
})
