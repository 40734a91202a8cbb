// Operators of the installation: a mark on accounts, which only the operator's command sets.
import type { Db } from '../core/database/database.ts'
import { type Page, type PageArgs, type Place, readPage } from '../core/graph/pagination.ts'
import type { Prisma } from '../generated/prisma/client.ts'
import { userIdOf } from './find-user.ts'

/** @throws NOT_FOUND when no account has the address. */
export async function setOperator(db: Db, { email, operator }: { email: string; operator: boolean }): Promise<void> {
  await db.user.update({ where: { id: await userIdOf(db, email) }, data: { operator } })
}

/** True if the account is an operator, and has not ended. */
export async function isOperator(db: Prisma.TransactionClient, userId: string): Promise<boolean> {
  return (await db.user.count({ where: { id: userId, operator: true, endedAt: null } })) > 0
}

export interface ShownAccount {
  id: string
  email: string
  name: string
  emailVerified: boolean
  operator: boolean
  /** Null, like `status`, before the first request with a session. */
  plan: string | null
  status: string | null
  createdAt: Date
}

/** A page of the accounts that have not ended, newest first. @throws VALIDATION_ERROR when an argument is invalid; names it. */
export async function pageOfAccounts(db: Db, args: PageArgs): Promise<Page<ShownAccount>> {
  const select = { id: true, email: true, name: true, emailVerified: true, operator: true, createdAt: true } as const
  return await readPage<ShownAccount>({
    args,
    binding: 'accounts',
    field: 'createdAt',
    direction: 'desc',
    find: async (take, { order, bounds }) => {
      const users = await db.user.findMany({
        select: { ...select, subscription: { select: { plan: true, status: true } } },
        where: { endedAt: null, AND: bounds.map(beyond) },
        orderBy: [{ createdAt: order }, { id: order }],
        take,
      })
      return users.map(({ subscription, ...user }) => ({ ...user, plan: null, status: null, ...subscription }))
    },
  })
}

function beyond({ than, value, id }: Place['bounds'][number]): Prisma.UserWhereInput {
  const createdAt = new Date(value)
  return { OR: [{ createdAt: { [than]: createdAt } }, { createdAt, id: { [than]: id } }] }
}
