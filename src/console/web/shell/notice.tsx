// A sentence in place of a page, announced when it appears.
import styles from '../ui/parts.module.css'

export function Notice({ text }: { text: string }) {
  return (
    <main className={styles.empty}>
      <p role="status">{text}</p>
    </main>
  )
}
