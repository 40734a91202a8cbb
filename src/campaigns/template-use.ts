// GraphQL field Template.campaignsCount: the campaigns that a template is used by.
import { builder } from '../core/graph/builder.ts'
import { load } from '../core/graph/load.ts'
import { TemplateRef } from '../templates/object.ts'

builder.prismaObjectField(TemplateRef, 'campaignsCount', (t) =>
  t.int({
    description: 'The number of campaigns made with it, whatever their status.',
    extensions: { columns: ['id'] },
    resolve: ({ id }, _, ctx) =>
      load(ctx, 'campaigns of templates', id, async (ids) => {
        const { workspaceId } = ctx.principal
        const where = { workspaceId, templateId: { in: [...ids] } }
        const groups = await ctx.app.db.campaign.groupBy({ by: ['templateId'], where, _count: true })
        const counts = new Map(groups.map(({ templateId, _count }) => [templateId, _count]))
        return ids.map((one) => counts.get(one) ?? 0)
      }),
  }),
)
