// Workers are killed and frozen at each further commit boundary of a send.
import { beforeAll, expect, it } from 'vitest'
import { ends, freeze, kill, playAll, type Scene, slow, three } from './kill-rig.ts'

// One kind of phone in each scene, because workers that wake at the same moment share out messages unpredictably.
const scenes = {
  afterAccept: kill('send.after_provider_accept', slow, three('sure')),
  beforeProviderBlind: kill('send.before_provider', {}, three('blind')),
  afterAcceptBlind: kill('send.after_provider_accept', {}, three('blind')),
  afterCommit: kill('send.after_commit_before_ack', {}, three('blind')),
  frozenBeforeOffer: freeze('send.after_claim', {}, 'claimed', three('blind')),
}
let played: Record<keyof typeof scenes, Scene>

beforeAll(async () => {
  played = await playAll(scenes)
}, 300_000)

it('does not repeat an attempt to a network that does not deduplicate by our id if it may have happened before the kill', () => {
  expect(ends(played.beforeProviderBlind, 'Blind', 'claimed')).toBe('failed UNKNOWN_OUTCOME 0x')
})

it('repeats an attempt under the same id if the kill came right after acceptance; the network has one message', () => {
  expect(ends(played.afterAccept, 'Sure', 'offered')).toBe('sent 2x')
})

it('settles messages by their receipts when the worker died before it committed their acceptance', () => {
  expect(ends(played.afterAcceptBlind, 'Blind', 'offered')).toBe('sent 1x')
})

it('does nothing more for a message that was committed before the kill', () => {
  expect(ends(played.afterCommit, 'Blind', 'committed')).toBe('sent 1x')
})

it('takes over from a frozen worker, which offers nothing when it wakes and has its writes refused', () => {
  const scene = played.frozenBeforeOffer
  expect(ends(scene, 'Blind', 'claimed')).toBe('failed UNKNOWN_OUTCOME 0x')
  expect(scene.fencedWrites).toBe(scene.sent.filter(({ left }) => left === 'claimed').length)
})
