// The dialog that gives something another name.
import { words } from '../words/words.ts'
import { EditDialog } from './edit-dialog.tsx'
import { TextField } from './field.tsx'

interface RenameProps {
  title: string
  name: string
  save: (name: string) => Promise<unknown>
  close: () => void
}

export function Rename({ title, name, save, close }: RenameProps) {
  return (
    <EditDialog title={title} close={close} save={(fields) => save(String(fields.get('name')))}>
      {(issues) => <TextField label={words.fields.name} name="name" defaultValue={name} autoComplete="off" issues={issues} />}
    </EditDialog>
  )
}
