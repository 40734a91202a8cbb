// Proves that SECRET_KEY can be changed: rows of both keys work before, during and after `gateway reseal`.
import { expect, it } from 'vitest'
import { reseal } from '../../src/cli/reseal.ts'
import { createSealer } from '../../src/core/seal.ts'
import { api, cloneDatabase, command, openGateway, secretKey, sql, until } from '../kit/kit.ts'
import { openReceiver, openRig, settled } from './rig.ts'

const newKey = 'cd'.repeat(32)
const changed = { SECRET_KEY: newKey, SECRET_KEY_PREVIOUS: secretKey }
const keys = { secretKey: Buffer.from(newKey, 'hex'), previous: Buffer.from(secretKey, 'hex') }
