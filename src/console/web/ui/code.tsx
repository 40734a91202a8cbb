// A piece of code that can be copied.
import { CopyButton } from './copy.tsx'
import styles from './parts.module.css'

export function Code({ text, name }: { text: string; name: string }) {
  return (
    <div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <section aria-label={name} tabIndex={0} className={styles.code}>
        <pre>
          <code>{text}</code>
        </pre>
      </section>
      <CopyButton text={text} />
    </div>
  )
}
