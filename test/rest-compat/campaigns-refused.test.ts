// REST routes of campaigns: which requests are refused, with which message, and that GraphQL refuses them alike.
import { beforeAll, describe, expect, it } from 'vitest'
import { campaign, expectRefusal, nobody, openRig, type Rig } from './rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

describe('a campaign', () => {
  it.each<[string, Record<string, unknown>, string | RegExp]>([
    ['no name', { name: undefined }, 'name: is required'],
    ['an empty name', { name: '' }, 'name: must not be empty'],
    ['a name of 201', { name: 'x'.repeat(201) }, 'name: must have at most 200 characters'],
    ['nobody', { recipients: undefined }, 'recipients: is required, unless contactIds or groupIds are given'],
    ['empty lists', { recipients: [], contactIds: [], groupIds: [] }, /^recipients: is required, unless/],
    ['a wrong number', { recipients: [{ to: '0151' }] }, 'recipients.0.to: must be an E.164 number, for example +393331234567'],
    ['one recipient in place of a list', { recipients: { to: '+4915112345' } }, 'recipients: must be an array'],
    ['a number in place of a recipient', { recipients: ['+4915112345'] }, 'recipients.0: must be an object'],
    [
      'a variable that is no text',
      { recipients: [{ to: '+4915112345', variables: { a: [] } }] },
      /^recipients\.0\.variables\.a: /,
    ],
    [
      'a NUL in a variable',
      { recipients: [{ to: '+4915112345', variables: { a: '\0' } }] },
      /^recipients\.0\.variables\.a: must not/,
    ],
    ['a malformed contact', { contactIds: ['5'] }, 'contactIds.0: must be a UUID'],
    ['a malformed group', { groupIds: [nobody, 5] }, 'groupIds.1: must be a UUID'],
    ['neither type nor template', { type: undefined }, 'type: is required, unless templateId is given'],
    ['both type and template', { templateId: nobody }, 'templateId: cannot be given together with type'],
    ['a text without text', { text: undefined }, 'text: is required'],
    ['a time in the past', { scheduledAt: '2020-01-01T00:00:00Z' }, 'scheduledAt: must be in the future'],
    ['a time without an offset', { scheduledAt: '2099-01-01T00:00:00' }, /^scheduledAt: must be an ISO 8601/],
    ['a time after more than a year', { scheduledAt: '2099-01-01T00:00:00Z' }, 'scheduledAt: must be at most one year ahead'],
    ['no instance', { instanceId: undefined }, 'instanceId: is required'],
    ['several faults', { name: 5, recipients: null, text: '' }, /^name: must be a string; .*text: is required.*recipients: is/],
  ])('is refused with %s', async (_, fields, message) => {
    expectRefusal(await rig.tenant.api.post('campaigns', campaign(rig.tenant, fields)), 400, 'VALIDATION_ERROR', message)
  })

  it('is refused with 404 when it names an object of another account or one that does not exist', async () => {
    const { tenant, stranger } = rig
    const theirs = (await stranger.api.post('contacts', { name: 'Eve', phone: '+393331112255' })).body.data.id
    const group = (await stranger.api.post('contacts/groups', { name: 'Theirs' })).body.data.id
    const post = (fields: Record<string, unknown>) => tenant.api.post('campaigns', campaign(tenant, fields))
    for (const id of [theirs, nobody]) {
      expectRefusal(await post({ contactIds: [id] }), 404, 'NOT_FOUND', 'Contact not found')
    }
    for (const id of [group, nobody]) expectRefusal(await post({ groupIds: [id] }), 404, 'NOT_FOUND', 'Contact group not found')
    for (const id of [stranger.instance.id, nobody]) {
      expectRefusal(await post({ instanceId: id }), 404, 'NOT_FOUND', 'Instance not found')
    }
    expectRefusal(await post({ type: undefined, text: undefined, templateId: nobody }), 404, 'NOT_FOUND', 'Template not found')
  })

  it('is refused by GraphQL with the same code and message', async () => {
    const { tenant } = rig
    const mutation = 'mutation ($input: CreateCampaignInput!) { createCampaign(input: $input) { id } }'
    const post = async (fields: Record<string, unknown>) => {
      const input = campaign(tenant, fields)
      const rest = (await tenant.api.post('campaigns', input)).body.error
      const { errors } = (await tenant.api.graphql(mutation, { input })).body
      expect({ code: errors[0].extensions.code, message: errors[0].message }).toEqual(rest)
    }
    await post({ recipients: [{ to: 'x' }] })
    await post({ recipients: undefined })
    await post({ contactIds: [nobody] })
    await post({ name: '' })
    await post({ type: undefined, text: undefined, templateId: nobody })
  })
})
