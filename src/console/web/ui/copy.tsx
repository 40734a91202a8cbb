// Copies text, also on pages that came over plain http, where browsers have no clipboard API.
import { Check, Copy } from 'lucide-react'
import { useRef, useState } from 'react'
import { words } from '../words/words.ts'
import styles from './parts.module.css'

/** `beside` is an element of the same dialog: a selection outside of an open dialog is not copied. Returns whether the text was copied. */
async function copyText(text: string, beside: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // There is no such API, or the browser does not allow it here.
  }
  const area = document.createElement('textarea')
  area.value = text
  area.readOnly = true
  area.className = styles.unseen ?? ''
  beside.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  return isCopied
}

export function CopyButton({ text, label = words.copy }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false)
  const here = useRef<HTMLSpanElement>(null)
  const act = async () => {
    if (!(await copyText(text, here.current as HTMLElement))) return
    setCopied(true)
    setTimeout(() => setCopied(false), 2_000)
  }
  return (
    <span ref={here}>
      <button type="button" className={`${styles.button} ${styles.quiet}`} onClick={act}>
        {copied ? <Check size={15} aria-hidden /> : <Copy size={15} aria-hidden />}
        <span aria-live="polite">{copied ? words.copied : label}</span>
      </button>
    </span>
  )
}
