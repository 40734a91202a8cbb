// Proves the order in which the lines of a batch give out their messages.
import { describe, expect, it } from 'vitest'
import { createBatchLines } from '../../src/messages/dispatch/batch-lines.ts'
import { recipientOf } from '../../src/messages/dispatch/lines.sql.ts'

const message = (id: string, peer: string) => ({ id, instanceId: 'instance', peer, scheduledAt: null, campaignId: null })
const [ann, ben, eve] = ['ann', 'ben', 'eve'].map((peer) => recipientOf({ instanceId: 'instance', peer })) as [
  string,
  string,
  string,
]

describe('the lines of a batch', () => {
  it('give one message of each line to a turn, in the order of the line, until it is empty', () => {
    const lines = createBatchLines([message('a2', 'ann'), message('b2', 'ben'), message('a3', 'ann')])
    const sent = new Set([ann, ben])
    expect([lines.nextTurn(sent), lines.nextTurn(sent), lines.nextTurn(sent)]).toEqual([['a2', 'b2'], ['a3'], []])
  })

  it('give a line whole to the turn if its previous message was not sent', () => {
    const lines = createBatchLines([message('a2', 'ann'), message('a3', 'ann'), message('b2', 'ben'), message('b3', 'ben')])
    expect(lines.nextTurn(new Set([ben]))).toEqual(['a2', 'a3', 'b2'])
    expect(lines.ids()).toEqual(['b3'])
  })

  it('give away one line, or all but some, and keep the others', () => {
    const lines = createBatchLines([message('a2', 'ann')])
    lines.add([message('b2', 'ben'), message('b3', 'ben'), message('e2', 'eve')])
    expect(lines.take(ann).map(({ id }) => id)).toEqual(['a2'])
    expect(lines.take(ann)).toEqual([])
    expect(lines.takeAllBut(new Set([eve])).map(({ id }) => id)).toEqual(['b2'])
    expect(lines.ids()).toEqual(['e2'])
  })
})
