// The words by which recipients end and resume messages, and the answer that they get.
import { useState } from 'react'
import { ChangeKeywordsDocument, KeywordsDocument, type KeywordsQuery } from '../generated/suppressions/graphql.ts'
import { ask } from '../graph/request.ts'
import { useRead } from '../graph/use-read.ts'
import { useWorkspace } from '../shell/workspace-context.ts'
import { TextArea } from '../ui/field.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { submits, useTask } from '../ui/use-task.ts'
import { words } from '../words/words.ts'
import { text } from './words.ts'

export function Keywords() {
  const { data, error } = useRead(KeywordsDocument, {})
  return (
    <section className={parts.panel} aria-label={text.keywords}>
      <div className={parts.panelHead}>
        <h2>{text.keywords}</h2>
      </div>
      <Refusal error={error} />
      {data ? (
        <KeywordsForm {...data.suppressionSettings} />
      ) : (
        <p className={parts.panelBody}>{error ? words.none : words.loading}</p>
      )}
    </section>
  )
}

function KeywordsForm({ keywords, reply }: KeywordsQuery['suppressionSettings']) {
  const { team } = useWorkspace()
  const [saved, setSaved] = useState(false)
  const task = useTask(async (fields: FormData) => {
    setSaved(false)
    const lines = String(fields.get('keywords')).split('\n')
    const input = {
      keywords: lines.map((line) => line.trim()).filter(Boolean),
      reply: String(fields.get('reply')).trim() || null,
    }
    await ask(team, ChangeKeywordsDocument, { input })
    setSaved(true)
  })
  return (
    <form
      className={`${parts.panelBody} ${parts.stack}`}
      onSubmit={submits(task.run)}
      onChange={() => setSaved(false)}
      noValidate
    >
      <TextArea
        label={text.keywordsEach}
        name="keywords"
        defaultValue={keywords.join('\n')}
        hint={text.keywordsHint}
        issues={task.issues}
      />
      <TextArea label={text.reply} name="reply" rows={2} defaultValue={reply ?? ''} hint={text.replyHint} issues={task.issues} />
      <Refusal error={task.error} />
      <div className={parts.row}>
        <button type="submit" className={parts.button} disabled={task.running}>
          {words.actions.save}
        </button>
        <span role="status" className={parts.hint}>
          {saved && words.actions.saved}
        </span>
      </div>
    </form>
  )
}
