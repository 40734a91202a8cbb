// Runs operations of the graph as the account of a rig.
import { parse } from 'graphql'
import { executeOperation } from '../../src/core/graph/execute.ts'
import { schema } from '../../src/schema.ts'
import type { Rig } from './rig.ts'

export interface Asked {
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of its own selection
  data?: any
  errors?: { message: string; extensions: { code: string } }[]
}

export async function ask({ ctx }: Pick<Rig, 'ctx'>, text: string, variables: Record<string, unknown> = {}): Promise<Asked> {
  // Loaders live as long as the context of a request, so each operation needs a new context.
  return (await executeOperation({ schema, document: parse(text), variables, context: { ...ctx } })) as Asked
}
