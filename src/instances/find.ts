// Finds instances for the query `find`.
import { containing, defineFinder } from '../core/graph/find.ts'
import { InstanceRef } from './schema.ts'

defineFinder({
  type: InstanceRef,
  async find({ app, principal: { workspaceId } }, { id, phone, name }) {
    const where = id ? { id } : { OR: [{ name: containing(name) }, ...(phone ? [{ waNumber: phone }] : [])] }
    return await app.db.instance.findMany({
      where: { ...where, workspaceId, deletedAt: null },
      orderBy: { createdAt: 'desc' },
      take: 3,
    })
  },
})
