// The topics of changing values in this process: one for each view, found by the subjects that its value depends on.
import type { Log } from '../../core/log.ts'
import type { LogEvent } from '../log/log.ts'
import { subject } from './follow.ts'
import { type StateSubscriber, StateTopic } from './state-topic.ts'

export interface StateView {
  /** Equal for views that may share rendered output: those with the same audience and selection. */
  key: string
  workspaceId: string
  subjects: readonly string[]
  render: () => Promise<{ body: string; ended: boolean }>
}

interface StateTopics {
  /** Adds a subscriber to the topic of a view. Returns the function that removes it. */
  follow: (view: StateView, subscriber: StateSubscriber) => () => void
  /** Reports that a subject may have changed. */
  invalidate: (changed: string) => void
  /** Reports that all subjects may have changed. */
  invalidateAll: () => void
  /** Reports that the subjects of these events may have changed. */
  invalidateFor: (events: readonly LogEvent[]) => void
  /** The workspaces that have a topic. */
  workspaces: () => string[]
}

export function createStateTopics(log: Log): StateTopics {
  const topics = new Map<string, StateTopic>()
  const bySubject = new Map<string, Set<StateTopic>>()

  function invalidate(changed: string): void {
    for (const topic of bySubject.get(changed) ?? []) topic.invalidate()
  }

  return {
    follow({ key, ...view }, subscriber) {
      const followed = topics.get(key) ?? new StateTopic({ ...view, log })
      topics.set(key, followed)
      for (const name of view.subjects) bySubject.set(name, (bySubject.get(name) ?? new Set()).add(followed))
      followed.add(subscriber)
      return () => {
        followed.remove(subscriber)
        if (!followed.empty || topics.get(key) !== followed) return
        topics.delete(key)
        for (const name of view.subjects) {
          const others = bySubject.get(name)
          if (others?.delete(followed) && others.size === 0) bySubject.delete(name)
        }
      }
    },
    invalidate,
    invalidateAll() {
      for (const topic of topics.values()) topic.invalidate()
    },
    invalidateFor(events) {
      if (topics.size === 0) return
      for (const changed of new Set(events.flatMap(subjectsOf))) invalidate(changed)
    },
    workspaces: () => [...topics.values()].map(({ workspaceId }) => workspaceId),
  }
}

function subjectsOf({ instanceId, messageId, campaignId }: LogEvent): string[] {
  return [
    ...(instanceId ? [subject('instance', instanceId)] : []),
    ...(messageId ? [subject('message', messageId)] : []),
    ...(campaignId ? [subject('campaign', campaignId)] : []),
  ]
}
