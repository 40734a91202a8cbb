// Makes a template of each one that the network approved, or changes the one that an earlier import made of it.
import type { Sql } from '../core/database/database.ts'
import { newId } from '../core/id.ts'
import type { NetworkTemplate } from '../providers/outgoing.ts'
import { type CloudTemplate, cloudToStore } from './cloud.ts'
import { type ImportedTemplate, insertImported, lockNames, updateImported } from './import.sql.ts'
import { checkTemplate, maxTemplates } from './policy.ts'
import { lockNewTemplates } from './templates.sql.ts'

export interface TemplateImport {
  created: number
  /** Those that an earlier import made. */
  updated: number
  skipped: { name: string; reason: string }[]
}

const longestName = 200
const byHand = 'a template of this name was made by hand'

/** A template of several languages has its own name for the first one, and `name (it)` for the others. */
export async function importTemplates(
  tx: Sql,
  workspaceId: string,
  approved: readonly NetworkTemplate[],
): Promise<TemplateImport> {
  await lockNewTemplates(tx, workspaceId)
  const held = await lockNames(tx, workspaceId)
  const byName = new Map(held.map(({ name, cloud }) => [name, cloud]))
  const byOrigin = new Map(held.flatMap(({ id, cloud }) => (cloud?.imported ? [[originOf(cloud), id] as const] : [])))
  const skipped: TemplateImport['skipped'] = []
  const created: ImportedTemplate[] = []
  const updated: ImportedTemplate[] = []
  // One that moves to a later page while the pages are read is listed twice.
  const distinct = new Map(approved.map((template) => [originOf(template), template]))
  for (const template of distinct.values()) {
    const skip = (reason: string) => void skipped.push({ name: template.name, reason })
    if ('unfit' in template) {
      skip(template.unfit)
      continue
    }
    const { body, names, parameters, name, language } = template
    const fault = faultOf(template)
    const id = byOrigin.get(originOf(template))
    const cloud: CloudTemplate = { name, language, parameters, ...(names && { names }), imported: true }
    const own = isSameTemplate(byName.get(name), name) ? `${name} (${language})` : name
    if (fault !== undefined) skip(fault)
    else if (id !== undefined) updated.push({ id, name, body, cloud })
    else if (byName.has(own)) skip(byHand)
    else if (own.length > longestName) skip(`its name has more than ${longestName} characters`)
    else if (held.length + created.length >= maxTemplates) skip(`the workspace has ${maxTemplates} templates`)
    else {
      created.push({ id: newId(), name: own, body, cloud })
      byName.set(own, cloud)
    }
  }
  await updateImported(tx, updated)
  const inserted = await insertImported(tx, workspaceId, created)
  // Somebody else made a template of this name at the same time.
  for (const { id, cloud } of created) if (!inserted.has(id)) skipped.push({ name: cloud.name, reason: byHand })
  return { created: inserted.size, updated: updated.length, skipped }
}

/** True if the template that has this name here was imported under it, in another language. */
function isSameTemplate(cloud: CloudTemplate | null | undefined, name: string): boolean {
  return cloud?.imported === true && cloud.name === name
}

function originOf({ name, language }: { name: string; language: string }): string {
  return `${name} ${language}`
}

/** The reason for which no template of ours can have this text or these names. */
function faultOf(template: NetworkTemplate & { body: string; parameters: string[] }): string | undefined {
  try {
    cloudToStore(template, null)
    checkTemplate({ type: 'text', body: template.body, mediaUrl: null })
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
