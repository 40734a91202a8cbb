// Outcomes of many attempts are stored together. One that cannot be stored does not take the others with it.
import { expect, it } from 'vitest'
import { cloneDatabase, sql } from '../kit/database.ts'
import { hold } from '../kit/fault.ts'
import { until } from '../kit/until.ts'
import { inTurn, openReceiver, status } from './receiver.ts'
import { openRig } from './rig.ts'

it('an outcome that the database refuses fails alone, and the attempts of the others are made once', async () => {
  const own = await cloneDatabase()
  const rig = await openRig({ databaseUrl: own })
  const receiver = await openReceiver(inTurn(status(200), status(299), status(200)))
  const endpoint = await rig.endpoint(receiver.url)
  await sql(own).query(
    `create function refuse_one() returns trigger language plpgsql as $$ begin
       raise exception 'the test refuses this' using errcode = '22000'; end $$;
     create trigger refuse_one before insert on webhook_attempts for each row when (new."responseCode" = 299) execute function refuse_one()`,
  )
  // The outcomes come together, because the first one waits.
  const first = await hold(own, 'insert', 'webhook_attempts')
  await rig.emit(4)
  await first.waits()
  await until(() => receiver.requests.length === 4)
  await first.release()
  const delivered = async () => (await rig.deliveries(endpoint.id)).filter((delivery) => delivery.status === 'delivered')
  await until(async () => (await delivered()).length === 3)
  expect((await delivered()).map(({ attempts }) => attempts)).toEqual([1, 1, 1])
  expect(receiver.requests).toHaveLength(4)
})
