// The used part of a limit, as a bar and in numbers.
import { count } from '../words/words.ts'
import styles from './meter.module.css'

/** `max` is null where there is no bound. `detail` stands in place of the numbers, for other units. */
export function Meter({ name, value, max, detail }: { name: string; value: number; max: number | null; detail?: string }) {
  const share = max ? Math.min(1, value / max) : 0
  const numbers = detail ?? (max === null ? count(value) : `${count(value)} / ${count(max)}`)
  const level = share >= 1 ? styles.full : share >= 0.8 ? styles.high : ''
  return (
    <div className={styles.meter}>
      <div className={styles.words} aria-hidden>
        <span>{name}</span>
        <span className={styles.numbers}>{numbers}</span>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: browsers draw their own element each in their own way. */}
      <div
        role="meter"
        aria-label={name}
        aria-valuemin={0}
        aria-valuemax={max ?? Math.max(1, value)}
        aria-valuenow={Math.min(value, max ?? value)}
        aria-valuetext={numbers}
        className={styles.track}
      >
        <div className={`${styles.bar} ${level}`} style={{ inlineSize: `${share * 100}%` }} />
      </div>
    </div>
  )
}
