// Decides what rests because it exceeds the plan: the newest, until there is room again.

/** A request to fit one kind of resource of an owner to the plan: some rest, or are taken up again. */
export interface Fit {
  /** The owner, whose subscription is locked. */
  ownerId: string
  /** How many the plan allows. */
  most: number
  /** True after a fall of the plan. Otherwise nothing further rests: an operator may have given more than the plan allows. */
  fell: boolean
}

/** The names of what rests from now on, and how many rest in all. */
export interface Fitted {
  rested: string[]
  resting: number
}

interface Choice<Row> {
  rest: Row[]
  wake: Row[]
  resting: number
}

/** Chooses what to rest and what to take up again. `rows` are all that count against the plan, oldest first. */
export function chooseResting<Row extends { resting: boolean }>(rows: readonly Row[], { most, fell }: Fit): Choice<Row> {
  const resting = rows.filter((row) => row.resting)
  const room = Math.max(0, most - (rows.length - resting.length))
  const rest = fell ? rows.slice(most).filter((row) => !row.resting) : []
  const wake = fell ? rows.slice(0, most).filter((row) => row.resting) : resting.slice(0, room)
  return { rest, wake, resting: resting.length + rest.length - wake.length }
}
