// Decides which resources rest because they exceed the plan: the newest, until the plan allows them again.

/** A request to fit one kind of resource of an owner to the plan: some rest, or are resumed. */
export interface Fit {
  /** The owner, whose subscription is locked. */
  ownerId: string
  /** How many the plan allows. */
  most: number
  /** True after a change to a smaller plan. Otherwise nothing further rests: an operator may have given more than the plan allows. */
  fell: boolean
}

/** The names of what rests from now on, and how many rest in all. */
export interface Fitted {
  rested: string[]
  resting: number
}

interface Choice<Row> {
  rest: Row[]
  resume: Row[]
  resting: number
}

/** Chooses which rows to rest and which to resume. `rows` are all that count against the plan, oldest first. */
export function chooseResting<Row extends { resting: boolean }>(rows: readonly Row[], { most, fell }: Fit): Choice<Row> {
  const resting = rows.filter((row) => row.resting)
  const free = Math.max(0, most - (rows.length - resting.length))
  const rest = fell ? rows.slice(most).filter((row) => !row.resting) : []
  const resume = fell ? rows.slice(0, most).filter((row) => row.resting) : resting.slice(0, free)
  return { rest, resume, resting: resting.length + rest.length - resume.length }
}
