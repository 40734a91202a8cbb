// Finds templates for the query `find`.
import { defineFinder } from '../core/graph/find.ts'
import { TemplateRef } from './object.ts'

defineFinder({
  type: TemplateRef,
  async find({ app, principal: { workspaceId } }, { id, name }) {
    const where = id ? { id } : { name: { contains: name ?? '', mode: 'insensitive' as const } }
    return await app.db.template.findMany({ where: { ...where, workspaceId }, orderBy: { createdAt: 'desc' }, take: 3 })
  },
})
