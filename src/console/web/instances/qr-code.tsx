// A QR code as one path.
import { encode } from 'uqr'
import styles from './instances.module.css'
import { text as words } from './words.ts'

export function QrCode({ text }: { text: string }) {
  const { data, size } = encode(text, { border: 0 })
  const path = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join('')
  return (
    <svg role="img" aria-label={words.qr} className={styles.qr} viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges">
      <path d={path} fill="#000" />
    </svg>
  )
}
