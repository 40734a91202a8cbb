// Finds messages for the query `find`: by their ids, and the latest with a number.
import { defineFinder } from '../core/graph/find.ts'
import { findByProviderId } from './find.sql.ts'
import { MessageRef } from './object.ts'

const most = 5

defineFinder({
  type: MessageRef,
  async find({ app, principal: { workspaceId } }, { id, phone, name }) {
    if (id) return await app.db.message.findMany({ where: { id, workspaceId } })
    if (phone) {
      const orderBy = [{ createdAt: 'desc' as const }, { id: 'desc' as const }]
      const latest = await app.db.message.findMany({ where: { workspaceId, peer: phone }, orderBy, take: most })
      if (latest.length > 0) return latest
    }
    const ids = name ? await findByProviderId(app.pool, workspaceId, name) : []
    return ids.length > 0 ? await app.db.message.findMany({ where: { id: { in: ids }, workspaceId } }) : []
  },
})
