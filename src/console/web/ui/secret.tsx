// A secret that is shown once. It is never put into the cache: ask for it by `ask` of graph/request.ts.
import { useId } from 'react'
import { CopyButton } from './copy.tsx'
import parts from './parts.module.css'

export function Secret({ label, hint, value }: { label: string; hint: string; value: string }) {
  const id = useId()
  return (
    <div className={parts.field}>
      <label className={parts.label} htmlFor={id}>
        {label}
      </label>
      <div className={parts.row}>
        <input
          id={id}
          className={parts.input}
          style={{ flex: '1 1 220px' }}
          readOnly
          value={value}
          aria-describedby={`${id}-hint`}
          onFocus={(event) => event.currentTarget.select()}
        />
        <CopyButton text={value} />
      </div>
      <div id={`${id}-hint`} className={parts.hint}>
        {hint}
      </div>
    </div>
  )
}
