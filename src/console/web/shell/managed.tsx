// A page that a team shows to those who manage it, and to nobody else.
import type { ReactNode } from 'react'
import { Page } from '../ui/page.tsx'
import { useManages } from './workspace-context.ts'

interface ManagedProps {
  title: string
  /** Says to others who sees the page. */
  closed: string
  children: ReactNode
}

export function Managed({ title, closed, children }: ManagedProps) {
  if (useManages()) return children
  return (
    <Page title={title}>
      <p>{closed}</p>
    </Page>
  )
}
