// Failures inside the client of WhatsApp Web that nobody awaits are told from those that must end the process.
import { expect, it } from 'vitest'
import { LeaseLost } from '../../src/providers/web/leases.sql.ts'
import { isPackageFault, StoreFault } from '../../src/providers/web/package-faults.ts'

it('a closed connection, a lost lease and an unreachable store concern one connection', () => {
  const thrownInside = Object.assign(new Error('x'), {
    stack: 'Error: x\n at f (/app/node_modules/baileys/lib/Socket/socket.js:1:1)',
  })
  expect([new LeaseLost(), new StoreFault('x'), { isBoom: true }, thrownInside].map(isPackageFault)).toEqual([
    true,
    true,
    true,
    true,
  ])
})

it('everything else does not', () => {
  expect([new Error('x'), undefined, null, 'x'].map(isPackageFault)).toEqual([false, false, false, false])
})
