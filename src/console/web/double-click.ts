// A double click on a button acts once: its second click submits nothing, and does nothing to what came in the place of the button.
let clicked: HTMLButtonElement | null = null

window.addEventListener(
  'click',
  (event) => {
    const button = event.target instanceof Element ? event.target.closest('button') : null
    const isSecond = event.detail > 1 && clicked !== null
    if (!isSecond) clicked = button
    else if (button !== clicked || button?.type === 'submit') {
      event.preventDefault()
      event.stopPropagation()
    }
  },
  true,
)
