// The page for an error that no page expects.
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { words } from '../words/words.ts'

export function Broken({ error }: { error: unknown }) {
  return (
    <Page title={words.broken.title}>
      <p>{words.errors.INTERNAL_ERROR}</p>
      <pre className={parts.code}>{String(error)}</pre>
      <p>
        <button type="button" className={parts.button} onClick={() => location.reload()}>
          {words.broken.reload}
        </button>
      </p>
    </Page>
  )
}
