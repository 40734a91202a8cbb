// The browser part of the baseline of `console`: a bare React page with as many rows, which change by events.
import { createElement as h, memo, useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'

export interface BareRow {
  id: string
  to: string
  body: string
  status: string
}

const Row = memo(function Row({ to, body, status }: BareRow) {
  return h(
    'tr',
    null,
    h('td', null, h('input', { type: 'checkbox', 'aria-label': `Select ${to}` })),
    ...[to, body, status].map((text, n) => h('td', { key: n }, text)),
  )
})

function BarePage() {
  const [rows, setRows] = useState<BareRow[]>([])
  const [number, setNumber] = useState('')
  useEffect(() => {
    void fetch('/rows').then(async (response) => setRows(await response.json()))
    const source = new EventSource('/changes')
    source.onmessage = ({ data }) => {
      const changed = JSON.parse(data) as BareRow
      setRows((before) => before.map((row) => (row.id === changed.id ? changed : row)))
    }
    return () => source.close()
  }, [])
  const change = (event: { target: { value: string } }) => setNumber(event.target.value)
  return h(
    'main',
    null,
    h('h1', null, 'Messages'),
    h('input', { 'aria-label': 'Number', value: number, onChange: change }),
    h(
      'table',
      { 'aria-label': 'Messages' },
      h(
        'tbody',
        null,
        rows.map((row) => h(Row, { key: row.id, ...row })),
      ),
    ),
  )
}

createRoot(document.getElementById('root') as HTMLElement).render(h(BarePage))
