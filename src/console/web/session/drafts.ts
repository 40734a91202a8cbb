// Keeps what was typed into forms and not sent, in the memory of this window only, so that coming back to a form shows it again.

/** The value of each control by its name. A checkbox is named with its value, and says `on` or nothing. */
type Said = Record<string, string | undefined>

export interface Draft<More = undefined> {
  said: Readonly<Said>
  /** Values that the form keeps outside of its controls. */
  more: More | undefined
  isKept: boolean
  /** Controls that are not shown now keep what they said. */
  keep: (form: HTMLFormElement, more?: More) => void
  /** Called once the form was sent: coming back shows an empty one. The form on the screen stays as it is. */
  forget: () => void
}

const drafts = new Map<string, { said: Said; more: unknown }>()

export function openDraft<More>(key: string): Draft<More> {
  const known = drafts.get(key)
  const draft = { said: { ...known?.said }, more: known?.more as More | undefined }
  return {
    ...draft,
    isKept: known !== undefined,
    keep(form, more) {
      Object.assign(draft.said, saidIn(form))
      drafts.set(key, { said: { ...draft.said }, more })
    },
    forget: () => drafts.delete(key),
  }
}

/** Called when a person signs out. A session that ends in another way may be followed by another one of the same person. */
export function forgetDrafts(): void {
  drafts.clear()
}

function saidIn(form: HTMLFormElement): Said {
  const said: Said = {}
  for (const control of form.elements) {
    const isSelect = control instanceof HTMLSelectElement
    if (!isSelect && !(control instanceof HTMLInputElement) && !(control instanceof HTMLTextAreaElement)) continue
    const { name, type, value } = control
    // The choices of a select may still be loading. A page cannot put a file into its field.
    if (!name || type === 'file' || (isSelect && !value)) continue
    if (control instanceof HTMLInputElement && type === 'checkbox') said[`${name} ${value}`] = control.checked ? 'on' : ''
    else said[name] = value
  }
  return said
}
