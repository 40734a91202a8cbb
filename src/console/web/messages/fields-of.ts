// The fields of a message as the request that sent it had them.
import type { MessageQuery } from '../generated/messages/graphql.ts'

type Message = Pick<NonNullable<MessageQuery['message']>, 'type' | 'body' | 'mediaUrl' | 'content'>

interface Fields {
  text?: string | null
  mediaUrl?: string | null
  latitude?: number
  longitude?: number
  locationName?: string | null
  locationAddress?: string | null
  title?: string | null
  description?: string
  footer?: string | null
  buttons?: { type: string; displayText: string; id: string }[]
}

interface Content extends Pick<Fields, 'latitude' | 'longitude' | 'title' | 'footer' | 'buttons'> {
  name?: string | null
  address?: string | null
}

/** Without those that are empty. Null for a shared contact, because a message does not keep its id. */
export function fieldsOf({ type, body, mediaUrl, content }: Message): Fields | null {
  const { name, address, ...given } = (content ?? {}) as Content
  switch (type) {
    case 'contact':
      return null
    case 'location':
      return filled({ latitude: given.latitude, longitude: given.longitude, locationName: name, locationAddress: address })
    case 'buttons':
      return filled({ title: given.title, description: body, footer: given.footer, buttons: given.buttons })
    default:
      return filled({ text: body, mediaUrl })
  }
}

function filled(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null && value !== ''))
}
