// Finds campaigns for the query `find`.
import { containing, defineFinder } from '../core/graph/find.ts'
import { CampaignRef } from './schema.ts'

defineFinder({
  type: CampaignRef,
  async find({ app, principal: { workspaceId } }, { id, name }) {
    const where = id ? { id } : { name: containing(name) }
    return await app.db.campaign.findMany({ where: { ...where, workspaceId }, orderBy: { createdAt: 'desc' }, take: 3 })
  },
})
