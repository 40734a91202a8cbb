// The first and the last name of a contact: given by the caller, or derived from the name and following it.
import { withoutSpaceAround } from '../core/white-space.ts'

export interface Names {
  name: string
  firstName: string | null
  lastName: string | null
}

/** The names of a stored contact. `given…` is null in rows of versions that did not note it. */
export interface StoredNames extends Names {
  givenFirstName: boolean | null
  givenLastName: boolean | null
}

/** The names in a request. Null means to derive the part from the name. */
export interface GivenNames {
  name?: string | undefined
  firstName?: string | null | undefined
  lastName?: string | null | undefined
}

/** The first word of a name, and the rest of it, trimmed; null if there is none. */
function partsOf(name: string): Omit<Names, 'name'> {
  const [firstName = null, ...rest] = name.split(/\p{White_Space}+/u).filter((word) => word !== '')
  const begin = firstName === null ? 0 : name.indexOf(firstName) + firstName.length
  const lastName = withoutSpaceAround(name.slice(begin))
  return { firstName, lastName: rest.length > 0 ? lastName : null }
}

/** The names to store for a new contact, or for a change of `before`. A part that was given stays until another is given. */
export function namesOf(given: GivenNames & { name: string }): StoredNames
export function namesOf(given: GivenNames, before: StoredNames): StoredNames
export function namesOf(given: GivenNames, before?: StoredNames): StoredNames {
  const name = given.name ?? before?.name ?? ''
  const derived = partsOf(name)
  const part = (field: 'firstName' | 'lastName', noted: boolean | null = null): [value: string | null, given: boolean] => {
    const value = given[field]
    if (typeof value === 'string') return [value, true]
    if (value === undefined && before && isGiven(before, field, noted)) return [before[field], true]
    return [derived[field], false]
  }
  const [firstName, givenFirstName] = part('firstName', before?.givenFirstName)
  const [lastName, givenLastName] = part('lastName', before?.givenLastName)
  return { name, firstName, lastName, givenFirstName, givenLastName }
}

/** In a row that does not note it, a part counts as given if it differs from the one that the name would give. */
function isGiven(before: Names, field: 'firstName' | 'lastName', noted: boolean | null): boolean {
  return noted ?? (before[field] !== null && before[field] !== partsOf(before.name)[field])
}

/**
 * The names of a line of a file. An export states every part, also one that follows the name, so a part counts as given only if neither the
 * name of the line nor the contact `before` has it already.
 */
export function namesOfLine(line: GivenNames, before?: StoredNames): GivenNames {
  const { name } = line
  const renamed = name !== undefined && name !== before?.name
  const part = (field: 'firstName' | 'lastName') => {
    const value = line[field]
    if (typeof value !== 'string') return value
    if (before && !renamed && value === before[field]) return undefined
    return name !== undefined && value === partsOf(name)[field] ? null : value
  }
  return { name, firstName: part('firstName'), lastName: part('lastName') }
}
