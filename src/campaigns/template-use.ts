// GraphQL field Template.campaignsCount: the campaigns that a template is used by.
import { builder } from '../core/graph/builder.ts'
import { loadFound } from '../core/graph/load.ts'
import { TemplateRef } from '../templates/object.ts'

builder.prismaObjectField(TemplateRef, 'campaignsCount', (t) =>
  t.int({
    description: 'The number of campaigns made with it, whatever their status.',
    extensions: { columns: ['id'] },
    resolve: ({ id }, _, ctx) =>
      loadFound(ctx, 'campaigns of templates', id, 0, async (ids) => {
        const { workspaceId } = ctx.principal
        const where = { workspaceId, templateId: { in: [...ids] } }
        const groups = await ctx.app.db.campaign.groupBy({ by: ['templateId'], where, _count: true })
        return new Map(groups.map(({ templateId, _count }) => [templateId as string, _count]))
      }),
  }),
)
