// A worker is killed, another frozen, at a commit boundary of a send. kill.deep.test.ts holds the other boundaries.
import { beforeAll, expect, it } from 'vitest'
import { allowed, measuredAgain, playedAhead } from '../kit/measured.ts'
import { ends, freeze, kill, playAll, resumedAfter, type Scene, slow, three } from './kill-rig.ts'

// One kind of phone in each scene, because workers that wake at the same moment share out messages unpredictably.
const scenes = {
  frozenAfterAccept: freeze('send.after_provider_accept', slow, 'offered', three('sure')),
  beforeProvider: kill('send.before_provider', {}, three('sure')),
}
let played: Record<keyof typeof scenes, Scene>

beforeAll(async () => {
  played = await playAll(scenes)
})

const playKilled = playedAhead(
  () => played.beforeProvider,
  () => scenes.beforeProvider(),
)

// Played and measured again when other load keeps this machine too busy.
it(
  'sends a message once, within 12 s, when its worker was killed after the claim and before the attempt',
  measuredAgain,
  async () => {
    const scene = await playKilled()
    expect(ends(scene, 'Sure', 'claimed')).toBe('sent 1x')
    console.log(`F1: resumed after ${resumedAfter(scene)} s`)
    expect(resumedAfter(scene)).toBeLessThan(allowed(12))
  },
)

it('refuses the late outcome of a worker that froze after its message was accepted', () => {
  const scene = played.frozenAfterAccept
  expect(ends(scene, 'Sure', 'offered')).toBe('sent 2x')
  expect(scene.fencedWrites).toBe(scene.sent.filter(({ left }) => left === 'offered').length)
  console.log(`F4: taken over after ${resumedAfter(scene)} s`)
})
