// The main button above a list, which opens the form of a new record.
import { Plus } from 'lucide-react'
import parts from './parts.module.css'

export function AddButton({ label, add }: { label: string; add: () => void }) {
  return (
    <button type="button" className={`${parts.button} ${parts.main}`} onClick={add}>
      <Plus size={15} aria-hidden />
      {label}
    </button>
  )
}
