// The words by which recipients end and resume messages, and the answer that they get.
import { ChangeKeywordsDocument, KeywordsDocument, type KeywordsQuery } from '../generated/suppressions/graphql.ts'
import { ask } from '../graph/request.ts'
import { useRead } from '../graph/use-read.ts'
import { useWorkspace } from '../shell/workspace-context.ts'
import { TextArea } from '../ui/field.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { SaveForm } from '../ui/save-form.tsx'
import { words } from '../words/words.ts'
import { text } from './words.ts'

export function Keywords() {
  const { data, error, again } = useRead(KeywordsDocument, {})
  return (
    <section className={parts.panel} aria-label={text.keywords}>
      <div className={parts.panelHead}>
        <h2>{text.keywords}</h2>
      </div>
      <Refusal error={error} />
      {data ? (
        <KeywordsForm {...data.suppressionSettings} again={again} />
      ) : (
        <p className={parts.panelBody}>{error ? words.none : words.loading}</p>
      )}
    </section>
  )
}

function KeywordsForm({ keywords, reply, again }: KeywordsQuery['suppressionSettings'] & { again: () => void }) {
  const { team } = useWorkspace()
  async function save(fields: FormData): Promise<void> {
    const lines = String(fields.get('keywords')).split('\n')
    const input = {
      keywords: lines.map((line) => line.trim()).filter(Boolean),
      reply: String(fields.get('reply')).trim() || null,
    }
    await ask(team, ChangeKeywordsDocument, { input })
    again()
  }
  return (
    <SaveForm save={save}>
      {(issues) => (
        <>
          <TextArea
            label={text.keywordsEach}
            name="keywords"
            defaultValue={keywords.join('\n')}
            hint={text.keywordsHint}
            issues={issues}
          />
          <TextArea label={text.reply} name="reply" rows={2} defaultValue={reply ?? ''} hint={text.replyHint} issues={issues} />
        </>
      )}
    </SaveForm>
  )
}
