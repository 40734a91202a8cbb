// The dialog that gives something another name.
import { words } from '../words/words.ts'
import { Dialog } from './dialog.tsx'
import { TextField } from './field.tsx'
import parts from './parts.module.css'
import { Refusal } from './refusal.tsx'
import { submits, useTask } from './use-task.ts'

interface RenameProps {
  title: string
  name: string
  save: (name: string) => Promise<unknown>
  close: () => void
}

export function Rename({ title, name, save, close }: RenameProps) {
  const task = useTask(async (fields: FormData) => {
    await save(String(fields.get('name')))
    close()
  })
  return (
    <Dialog title={title} close={close}>
      <form className={parts.stack} noValidate onSubmit={submits(task.run)}>
        <TextField label={words.fields.name} name="name" defaultValue={name} autoComplete="off" issues={task.issues} />
        <Refusal error={task.error} />
        <div className={parts.row}>
          <button type="submit" className={`${parts.button} ${parts.main}`} disabled={task.running}>
            {words.actions.save}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
