// Workers of a queue whose jobs take long: others take their places, up to a bound, and no more than usual stay when the jobs end.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type Crew, createCrew } from '../../src/core/jobs/crew.ts'
import type { WorkerShape } from '../../src/core/jobs/jobs.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A crew, and the workers that it has. */
function crewOf(shape: Pick<WorkerShape, 'workers' | 'mostWorkers'>): { crew: Crew; workers: Set<string> } {
  const workers = new Set<string>()
  let started = 0
  const start = async () => {
    const id = `worker ${started++}`
    workers.add(id)
    crew.add(id)
  }
  const crew = createCrew({ batchSize: 1, ...shape }, { start, end: (id) => void workers.delete(id) })
  for (let i = 0; i < shape.workers; i++) void start()
  return { crew, workers }
}

it('starts a worker for each that is late, up to the bound, and ends them when the late ones are done', () => {
  const { crew, workers } = crewOf({ workers: 2, mostWorkers: 5 })
  const over: (() => void)[] = []
  const busy = new Set<string>()
  for (const expected of [4, 5, 5]) {
    for (const id of workers) {
      if (busy.has(id)) continue
      busy.add(id)
      over.push(crew.begin(id))
    }
    vi.runAllTimers()
    expect(workers.size).toBe(expected)
  }
  for (const end of over) end()
  expect(workers.size).toBe(2)
})

it('starts none for batches that end in time, nor where no more are allowed', () => {
  const quick = crewOf({ workers: 1, mostWorkers: 2 })
  quick.crew.begin('worker 0')()
  vi.runAllTimers()
  expect(quick.workers.size).toBe(1)
  const fixed = crewOf({ workers: 1 })
  fixed.crew.begin('worker 0')
  vi.runAllTimers()
  expect(fixed.workers.size).toBe(1)
})

it('ends no worker that has just ended its batch, since it fetches what the batch held up', () => {
  const { crew, workers } = crewOf({ workers: 1, mostWorkers: 2 })
  const end = crew.begin('worker 0')
  vi.runAllTimers()
  expect([...workers]).toEqual(['worker 0', 'worker 1'])
  end()
  expect([...workers]).toEqual(['worker 0'])
})

it('starts none once it is closed', () => {
  const { crew, workers } = crewOf({ workers: 1, mostWorkers: 2 })
  crew.begin('worker 0')
  crew.close()
  vi.runAllTimers()
  expect(workers.size).toBe(1)
})

it('does not count a worker again that was ended and brings the jobs of its last fetch', () => {
  const { crew, workers } = crewOf({ workers: 1, mostWorkers: 2 })
  const end = crew.begin('worker 0')
  vi.runAllTimers()
  end()
  expect([...workers]).toEqual(['worker 0'])
  crew.begin('worker 1')()
  const endAgain = crew.begin('worker 0')
  vi.runAllTimers()
  expect([...workers]).toEqual(['worker 0', 'worker 2'])
  endAgain()
  expect([...workers]).toEqual(['worker 0'])
})
