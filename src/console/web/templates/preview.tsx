// The preview of a template: the server fills in the given values and names the missing ones.
import { useEffect, useState } from 'react'
import { PreviewTemplateDocument, type PreviewTemplateMutation } from '../generated/templates/graphql.ts'
import { askPatiently } from '../graph/ask-patiently.ts'
import { ask } from '../graph/request.ts'
import { useWorkspace } from '../shell/workspace-context.ts'
import { TextField } from '../ui/field.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import styles from './templates.module.css'
import { text } from './words.ts'

const custom = 'custom.'

export function Preview({ id }: { id: string }) {
  const { team } = useWorkspace()
  const [values, setValues] = useState<Record<string, string>>({})
  const [shown, setShown] = useState<PreviewTemplateMutation['previewTemplate'] | null>(null)
  const [error, setError] = useState<unknown>(null)
  // Only the answer to the last values counts.
  useEffect(() => {
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value))
    return askPatiently(
      () => ask(team, PreviewTemplateDocument, { id, variables: given }),
      ({ previewTemplate }) => {
        setShown(previewTemplate)
        setError(null)
      },
      setError,
    )
  }, [team, id, values])
  const missing = shown?.missing ?? []
  const asked = missing.filter((name) => name.startsWith(custom)).map((name) => name.slice(custom.length))
  const names = [...new Set([...Object.keys(values), ...asked])].sort()
  const ofContact = missing.filter((name) => !name.startsWith(custom))
  return (
    <section className={parts.panel} aria-label={text.preview} aria-busy={!shown && !error}>
      <div className={parts.panelHead}>
        <h2>{text.preview}</h2>
      </div>
      <div className={`${parts.panelBody} ${parts.stack}`}>
        <Refusal error={error} />
        <p className={styles.bubble}>{shown?.body}</p>
        {names.map((name) => (
          <TextField
            key={name}
            label={name}
            name={name}
            autoComplete="off"
            value={values[name] ?? ''}
            onChange={(event) => setValues({ ...values, [name]: event.target.value })}
          />
        ))}
        {ofContact.length > 0 && <p className={parts.hint}>{text.fromContact(ofContact.join(', '))}</p>}
      </div>
    </section>
  )
}
