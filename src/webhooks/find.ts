// Finds webhook endpoints and deliveries for the query `find`.
import { containing, defineFinder } from '../core/graph/find.ts'
import { DeliveryRef, EndpointRef } from './schema.ts'

defineFinder({
  type: EndpointRef,
  async find({ app, principal: { workspaceId } }, { id, name }) {
    const where = id ? { id } : { url: containing(name) }
    const found = { ...where, workspaceId, deletedAt: null }
    return await app.db.webhookEndpoint.findMany({ where: found, orderBy: { createdAt: 'desc' }, take: 3 })
  },
})

defineFinder({
  type: DeliveryRef,
  async find({ app, principal: { workspaceId } }, { id }) {
    if (!id) return []
    return await app.db.webhookDelivery.findMany({ where: { id, endpoint: { workspaceId, deletedAt: null } } })
  },
})
