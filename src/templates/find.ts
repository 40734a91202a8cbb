// Finds templates for the query `find`.
import { containing, defineFinder } from '../core/graph/find.ts'
import { TemplateRef } from './object.ts'

defineFinder({
  type: TemplateRef,
  async find({ app, principal: { workspaceId } }, { id, name }) {
    const where = id ? { id } : { name: containing(name) }
    return await app.db.template.findMany({ where: { ...where, workspaceId }, orderBy: { createdAt: 'desc' }, take: 3 })
  },
})
