// Asks the gateway, before anything is sent, what the message of the form would be.
import { useEffect, useState } from 'react'
import {
  CheckMessageDocument,
  type CheckMessageQuery,
  ContactWithNumberDocument,
  FillTemplateDocument,
  type FillTemplateMutation,
  type SendMessageInput,
  type SendType,
} from '../generated/send/graphql.ts'
import { isPhone } from '../graph/is-phone.ts'
import { passes } from '../graph/passing.ts'
import { ask, type Team } from '../graph/request.ts'
import { againMs } from '../graph/use-read.ts'
import { ApiError } from '../session/auth-call.ts'
import { useWorkspace } from '../shell/workspace-context.ts'
import type { Input } from './input.ts'

export interface Checked {
  /** The text of the template with its values. */
  template?: FillTemplateMutation['previewTemplate']
  /** Undefined until the message could be sent. */
  message?: CheckMessageQuery['previewMessage']
  error?: unknown
}

/** The time without a change after which the gateway is asked. */
const restMs = 600

/** The fields without which a message of that type cannot be sent. The gateway need not be asked to name them. */
const needed: Record<SendType, readonly string[]> = {
  text: ['text'],
  image: ['mediaUrl'],
  video: ['mediaUrl'],
  audio: ['mediaUrl'],
  voice_note: ['mediaUrl'],
  document: ['mediaUrl'],
  location: ['latitude', 'longitude'],
  contact: ['contactId'],
  buttons: ['description', 'buttons'],
}

function isWhole(input: Input): boolean {
  if (!input.instanceId || !isPhone(input.to)) return false
  return input.templateId !== undefined || (input.type !== undefined && needed[input.type].every((name) => name in input))
}

async function check(team: Team, input: Input, scheduledAt: string | null): Promise<Checked> {
  const { templateId: id, to, variables } = input
  let template: Checked['template']
  if (id) {
    // The gateway fills in the values of the contact with the number, too.
    const found = isPhone(to) ? (await ask(team, ContactWithNumberDocument, { number: to })).contacts.nodes : []
    const contactId = found.find(({ phone }) => phone === to)?.id ?? null
    template = (await ask(team, FillTemplateDocument, { id, contactId, variables })).previewTemplate
    if (template.missing.length > 0) return { template }
  }
  if (!isWhole(input) || scheduledAt === '') return { template }
  try {
    const { previewMessage } = await ask(team, CheckMessageDocument, { input: input as SendMessageInput, scheduledAt })
    return { template, message: previewMessage }
  } catch (error) {
    return { template, error }
  }
}

/** The gateway's preview of the message, read once nothing has changed for a moment. */
export function useCheck(input: Input | null, scheduledAt: string | null): Checked {
  const { team } = useWorkspace()
  const [checked, setChecked] = useState<Checked>({})
  useEffect(() => {
    let current = true
    setChecked(({ template }) => (input?.templateId ? { template } : {}))
    if (!input || !(input.templateId || isWhole(input))) return
    let timer = setTimeout(() => void read(input), restMs)
    async function read(now: Input): Promise<void> {
      const next = await check(team, now, scheduledAt).catch((error: unknown): Checked => ({ error }))
      if (!current) return
      setChecked(next)
      // A gateway that was away is asked again, until it answers.
      if (next.error instanceof ApiError && passes(next.error)) timer = setTimeout(() => void read(now), againMs)
    }
    return () => {
      current = false
      clearTimeout(timer)
    }
  }, [team, input, scheduledAt])
  return checked
}
