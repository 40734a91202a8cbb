// The pages of the main navigation.
import {
  Ban,
  BookUser,
  CreditCard,
  Gauge,
  House,
  KeyRound,
  LayoutTemplate,
  Megaphone,
  MessageSquare,
  Radio,
  ScrollText,
  Send,
  Smartphone,
  Users,
  Webhook,
} from 'lucide-react'
import type { Team } from '../graph/request.ts'
import { words } from '../words/words.ts'

/** Pages that only say to collaborators of a team that they may not see them. */
const ofManagers = ['keys', 'usage', 'billing']

/**
 * The pages in the navigation of a workspace: their path, name, icon, and the key after `g`. The first group stays in sight
 * on narrow screens.
 */
export function pageGroups(team: Team, manages: boolean) {
  const { nav } = words
  const groups = [
    [
      { page: '', name: nav.home, Icon: House, key: 'h' },
      { page: 'messages', name: nav.messages, Icon: MessageSquare, key: 'm' },
      { page: 'send', name: nav.send, Icon: Send, key: 's' },
      { page: 'live', name: nav.live, Icon: Radio, key: 'l' },
    ],
    [
      { page: 'instances', name: nav.instances, Icon: Smartphone, key: 'i' },
      { page: 'campaigns', name: nav.campaigns, Icon: Megaphone, key: 'c' },
      { page: 'contacts', name: nav.contacts, Icon: BookUser, key: 'p' },
      { page: 'templates', name: nav.templates, Icon: LayoutTemplate, key: 't' },
      { page: 'suppressions', name: nav.suppressions, Icon: Ban, key: 'd' },
    ],
    [
      { page: 'webhooks', name: nav.webhooks, Icon: Webhook, key: 'w' },
      { page: 'keys', name: nav.keys, Icon: KeyRound, key: 'k' },
      { page: 'events', name: nav.events, Icon: ScrollText, key: 'e' },
      { page: 'usage', name: nav.usage, Icon: Gauge, key: 'u' },
      { page: 'billing', name: nav.billing, Icon: CreditCard, key: 'b' },
      ...(team ? [{ page: 'team', name: nav.team, Icon: Users, key: 'y' }] : []),
    ],
  ]
  return manages ? groups : groups.map((group) => group.filter(({ page }) => !ofManagers.includes(page)))
}

export function mainPages(team: Team, manages: boolean) {
  return pageGroups(team, manages).flat()
}
