// The fields that say who gets the campaign: pasted numbers, a CSV file, groups and contacts.

import { textOf } from '../chosen-file/text-of.ts'
import type { FormGroupsQuery } from '../generated/campaigns/graphql.ts'
import type { List } from '../graph/use-list.ts'
import type { Issue } from '../session/auth-call.ts'
import { TextArea, TextField } from '../ui/field.tsx'
import { More } from '../ui/more.tsx'
import parts from '../ui/parts.module.css'
import { useTask } from '../ui/use-task.ts'
import { count } from '../words/words.ts'
import styles from './campaigns.module.css'
import { ContactPicker, type Picked } from './contact-picker.tsx'
import { type BadLine, type Read, readRecipients } from './read-recipients.ts'
import { text } from './words.ts'

export interface ReadFile extends Read {
  name: string
}

interface RecipientFieldsProps {
  pasted: string
  setPasted: (text: string) => void
  read: Read
  file: ReadFile | null
  setFile: (file: ReadFile | null) => void
  groups: List<FormGroupsQuery['contactGroups']['nodes'][number]>
  /** True for a group that is chosen when it is first shown. */
  isChosen: (groupId: string) => boolean
  picked: readonly Picked[]
  setPicked: (picked: Picked[]) => void
  issues: readonly Issue[]
}

export function RecipientFields(props: RecipientFieldsProps) {
  const { pasted, setPasted, read, file, setFile, groups, isChosen, picked, setPicked, issues } = props
  const opening = useTask(async (chosen: File | undefined) => {
    setFile(chosen ? { name: chosen.name, ...readRecipients(await textOf(chosen, 'file')) } : null)
  })
  return (
    <>
      <TextArea
        label={text.pasted}
        name="pasted"
        value={pasted}
        onChange={(event) => setPasted(event.target.value)}
        hint={text.pastedHint}
        placeholder={'+4915112345678\n+5511912345678'}
        issues={issues.map(({ path, message }) => ({ path: path.replace(/^recipients/, 'pasted'), message }))}
      />
      {file ? (
        <div className={parts.row}>
          <span role="status">{text.fileRows(file.name, count(file.recipients.length))}</span>
          <button type="button" className={`${parts.button} ${styles.slim}`} onClick={() => setFile(null)}>
            {text.drop}
          </button>
        </div>
      ) : (
        <TextField
          label={text.file}
          name="file"
          type="file"
          accept=".csv,.txt,text/csv,text/plain"
          hint={text.fileHint}
          issues={opening.issues}
          onChange={(event) => void opening.run(event.target.files?.[0])}
        />
      )}
      <BadLines bad={read.bad} nameOf={(line) => text.line(count(line))} />
      {file && <BadLines bad={file.bad} nameOf={(line) => text.fileLine(file.name, count(line))} />}
      {groups.rows.length > 0 && (
        <fieldset className={styles.boxes}>
          <legend className={parts.label}>{text.groups}</legend>
          {groups.rows.map(({ id, name, membersCount }) => (
            <label key={id} className={parts.row}>
              <input type="checkbox" name="groupIds" value={id} defaultChecked={isChosen(id)} />
              {name} <span className={parts.hint}>{count(membersCount)}</span>
            </label>
          ))}
          <More list={groups} />
        </fieldset>
      )}
      <ContactPicker picked={picked} setPicked={setPicked} />
    </>
  )
}

/** Lines that are shown; the others are counted. */
const mostShown = 20

function BadLines({ bad, nameOf }: { bad: readonly BadLine[]; nameOf: (line: number) => string }) {
  if (bad.length === 0) return null
  return (
    <div className={`${parts.note} ${parts.refused}`}>
      <p>{text.badLinesNote(count(bad.length))}</p>
      <ul aria-label={text.badLines} className={parts.hint}>
        {bad.slice(0, mostShown).map(({ line, said }) => (
          <li key={line}>{text.leftOut(nameOf(line), said)}</li>
        ))}
        {bad.length > mostShown && <li>{text.andMore(count(bad.length - mostShown))}</li>}
      </ul>
    </div>
  )
}
