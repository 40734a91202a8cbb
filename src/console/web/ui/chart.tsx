// A small chart: a bar for each point, and over it a line of bounds that rises and falls in steps. Its numbers stand in the table below it.
import styles from './chart.module.css'

export interface Point {
  label: string
  value: number
  bound?: number
}

interface ChartProps {
  name: string
  points: readonly Point[]
  format: (value: number) => string
  /** For a glance, beside what says more. */
  low?: boolean
}

const barWidth = 10
const height = 100

/** The heights grow with the square root, so that small bounds can be told apart beside large ones. */
function sharesOf(points: readonly Point[]): (value: number) => number {
  const most = Math.max(1, ...points.flatMap(({ value, bound = 0 }) => [value, bound]))
  return (value) => Math.sqrt(value / most)
}

function Bars({ points }: { points: readonly Point[] }) {
  const share = sharesOf(points)
  return points.map(({ label, value, bound = Number.POSITIVE_INFINITY }, n) => (
    <rect
      key={label}
      className={value > bound ? styles.over : styles.bar}
      x={n * barWidth + 1.5}
      width={barWidth - 3}
      y={height * (1 - share(value))}
      height={height * share(value)}
    />
  ))
}

/** The bars alone, in a line beside what they add up to. */
export function Spark({ points }: { points: readonly Point[] }) {
  return (
    <svg className={styles.spark} aria-hidden viewBox={`0 0 ${points.length * barWidth} ${height}`} preserveAspectRatio="none">
      <Bars points={points} />
    </svg>
  )
}

export function Chart({ name, points, format, low = false }: ChartProps) {
  const share = sharesOf(points)
  const y = (value: number) => height * (1 - share(value))
  const steps = points.map(({ bound }, n) => bound !== undefined && `${n === 0 ? 'M0,' : 'V'}${y(bound)}H${(n + 1) * barWidth}`)
  const changed = points.flatMap(({ bound }, n) => (bound !== undefined && bound !== points[n - 1]?.bound ? [{ bound, n }] : []))
  const last = points.length - 1
  return (
    <div className={styles.chart}>
      <div className={`${styles.plot} ${low ? styles.low : ''}`}>
        <svg role="img" aria-label={name} viewBox={`0 0 ${points.length * barWidth} ${height}`} preserveAspectRatio="none">
          <Bars points={points} />
          {steps.some(Boolean) && <path className={styles.line} d={steps.join('')} />}
        </svg>
        {changed.map(({ bound, n }) => (
          <span
            key={n}
            aria-hidden
            className={styles.bound}
            style={{ insetInlineStart: `${(n / points.length) * 100}%`, insetBlockStart: `${100 - share(bound) * 100}%` }}
          >
            {format(bound)}
          </span>
        ))}
      </div>
      <div className={styles.labels} aria-hidden>
        <span>{points[0]?.label}</span>
        {last > 1 && <span>{points[Math.round(last / 2)]?.label}</span>}
        {last > 0 && <span>{points[last]?.label}</span>}
      </div>
    </div>
  )
}
