// A double click submits once, and its second click does nothing to a button that came in the place of the first one.
let clicked: Element | null = null

window.addEventListener(
  'click',
  (event) => {
    const button = event.target instanceof Element ? event.target.closest('button') : null
    const isSecond = event.detail > 1
    if (!isSecond) clicked = button
    else if (button && (button !== clicked || button.type === 'submit')) {
      event.preventDefault()
      event.stopPropagation()
    }
  },
  true,
)
