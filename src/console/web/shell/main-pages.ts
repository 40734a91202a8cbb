// The pages of the main navigation.
import { House, MessageSquare, Radio, Send } from 'lucide-react'
import { words } from '../words/words.ts'

/** The pages in the navigation: where, what they are called, their icon, and the key after `g`. */
export function mainPages() {
  const { nav } = words
  return [
    { page: '', name: nav.home, Icon: House, key: 'h' },
    { page: 'messages', name: nav.messages, Icon: MessageSquare, key: 'm' },
    { page: 'send', name: nav.send, Icon: Send, key: 's' },
    { page: 'live', name: nav.live, Icon: Radio, key: 'l' },
  ] as const
}
