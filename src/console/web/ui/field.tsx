// Form fields: a label, a control, and the server's message about a fault.
import { type ComponentProps, type ReactNode, useId } from 'react'
import type { Issue } from '../session/auth-call.ts'
import { words } from '../words/words.ts'
import styles from './parts.module.css'

interface Labelled {
  label: string
  name: string
  hint?: ReactNode
  issues?: readonly Issue[]
}

/** The ids and attributes that connect a control with its label, its hint and its fault. */
function useControl({ name, hint, issues }: Labelled) {
  const id = useId()
  const fault = issues?.find(({ path }) => path === name || path.startsWith(`${name}.`))?.message
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ')
  return {
    id,
    fault,
    control: { id, name, 'aria-invalid': fault ? true : undefined, 'aria-describedby': described || undefined },
  }
}

function Around({
  id,
  label,
  hint,
  fault,
  children,
}: { id: string; fault?: string; children: ReactNode } & Omit<Labelled, 'name'>) {
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      {children}
      {hint && (
        <div id={`${id}-hint`} className={styles.hint}>
          {hint}
        </div>
      )}
      {fault && (
        <div id={`${id}-fault`} className={styles.fault}>
          {fault}
        </div>
      )}
    </div>
  )
}

/** `children` lie over what stands below the input. */
export function TextField({ label, hint, issues, children, ...rest }: Labelled & ComponentProps<'input'>) {
  const { id, fault, control } = useControl({ label, hint, issues, name: rest.name })
  return (
    <Around {...{ id, label, hint, fault }}>
      <div className={styles.over}>
        <input className={styles.input} dir="auto" {...rest} {...control} />
        {children}
      </div>
    </Around>
  )
}

/** A field for a password that is new, with its rules. */
export function NewPasswordField(props: Labelled & ComponentProps<'input'>) {
  return (
    <TextField
      type="password"
      autoComplete="new-password"
      minLength={10}
      maxLength={128}
      hint={words.fields.passwordHint}
      required
      {...props}
    />
  )
}

export function TextArea({ label, hint, issues, ...rest }: Labelled & ComponentProps<'textarea'>) {
  const { id, fault, control } = useControl({ label, hint, issues, name: rest.name })
  return (
    <Around {...{ id, label, hint, fault }}>
      <textarea className={styles.input} dir="auto" rows={4} {...rest} {...control} />
    </Around>
  )
}

export function Choice({ label, hint, issues, children, ...rest }: Labelled & ComponentProps<'select'>) {
  const { id, fault, control } = useControl({ label, hint, issues, name: rest.name })
  return (
    <Around {...{ id, label, hint, fault }}>
      <select className={styles.input} {...rest} {...control}>
        {children}
      </select>
    </Around>
  )
}
