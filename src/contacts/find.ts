// Finds contacts and groups for the query `find`.
import { containing, defineFinder } from '../core/graph/find.ts'
import { findContacts } from './find.sql.ts'
import { ContactGroupRef } from './groups/schema.ts'
import { ContactRef } from './schema.ts'

const most = 5

defineFinder({
  type: ContactRef,
  async find({ app, principal: { workspaceId } }, { id, phone, name }) {
    if (id) return await app.db.contact.findMany({ where: { id, workspaceId } })
    const exact = phone ? await app.db.contact.findMany({ where: { workspaceId, phone } }) : []
    if (exact.length > 0 || !name) return exact
    const ids = await findContacts(app.pool, workspaceId, name, most)
    const found = await app.db.contact.findMany({ where: { id: { in: ids }, workspaceId } })
    return found.toSorted((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id))
  },
})

defineFinder({
  type: ContactGroupRef,
  async find({ app, principal: { workspaceId } }, { id, name }) {
    const where = id ? { id } : { name: containing(name) }
    return await app.db.contactGroup.findMany({ where: { ...where, workspaceId }, orderBy: { createdAt: 'desc' }, take: 3 })
  },
})
