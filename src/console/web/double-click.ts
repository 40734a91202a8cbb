// A double click submits once, and its second click does nothing to a button that came in the place of the first one.

/** Longest time between the clicks of a double click. Browsers do not count the second one if what the first one hit is gone. */
const soonMs = 500

let last = { button: null as Element | null, at: Number.NEGATIVE_INFINITY, x: 0, y: 0 }

window.addEventListener(
  'click',
  (event) => {
    const { target, detail, timeStamp: at, clientX: x, clientY: y } = event
    const button = target instanceof Element ? target.closest('button') : null
    const isSamePlace = Math.abs(x - last.x) < 5 && Math.abs(y - last.y) < 5
    const byPointer = (event as PointerEvent).pointerType !== ''
    if (detail > 1 || (byPointer && isSamePlace && at - last.at < soonMs)) {
      if (!button || (button === last.button && button.type !== 'submit')) return
      event.preventDefault()
      event.stopPropagation()
    } else last = { button, at, x, y }
  },
  true,
)
