// The rules for a template and for the message rendered from it, as a unit.
import { describe, expect, it } from 'vitest'
import { fail } from '../../src/core/errors.ts'
import { needsFile, type TemplateType, templateTypes } from '../../src/message-types/service.ts'
import { checkTemplate, faultOf, fillIn, renderAs } from '../../src/templates/policy.ts'
import { compileTemplate } from '../../src/templates/render.ts'

const mediaUrl = 'https://cdn.example.com/a.png'
const media = templateTypes.filter(needsFile)

function refusal(work: () => unknown, code = 'TEMPLATE_INVALID'): string {
  try {
    work()
  } catch (error) {
    expect(error).toMatchObject({ extensions: { code } })
    return (error as Error).message
  }
  return 'taken'
}

function fill(type: TemplateType, body: string, custom: Record<string, string>): string {
  const filled = fillIn(type, compileTemplate(body), { contact: null, custom: [custom] }, null)
  const fault = faultOf(type, filled)
  return fault === null ? filled.body : fail('TEMPLATE_INVALID', fault)
}

describe('a template', () => {
  it.each(media)('of type %s requires a media URL', (type) => {
    expect(refusal(() => checkTemplate({ type, body: '', mediaUrl: null }))).toBe(`mediaUrl: is required for type ${type}`)
    expect(refusal(() => checkTemplate({ type, body: '', mediaUrl }))).toBe('taken')
  })

  it('of type text requires a body and no media URL', () => {
    const bare = () => checkTemplate({ type: 'text', body: '', mediaUrl: null })
    expect(refusal(bare, 'VALIDATION_ERROR')).toBe('body: is required')
    expect(refusal(() => checkTemplate({ type: 'text', body: '{{custom.a}}', mediaUrl: null }))).toBe('taken')
  })

  it.each<[TemplateType, number]>([
    ['text', 4096],
    ['image', 1024],
  ])('of type %s has at most %i characters outside its placeholders', (type, max) => {
    const check = (body: string) => refusal(() => checkTemplate({ type, body, mediaUrl }))
    expect(check(`${'👍'.repeat(max)}{{custom.a}}`)).toBe('taken')
    expect(check(`${'👍'.repeat(max)}{{custom.a}}a`)).toBe(`body: has more than ${max} characters without its placeholders`)
  })

  it('is refused for an invalid placeholder', () => {
    expect(refusal(() => checkTemplate({ type: 'text', body: '{{a}}', mediaUrl: null }))).toMatch(/^body: {{a}} is not {{contact/)
  })
})

describe('a message rendered from a template', () => {
  it('has every value, or names the missing ones', () => {
    expect(fill('text', 'No. {{custom.order}}', { order: '7' })).toBe('No. 7')
    expect(refusal(() => fill('text', '{{custom.order}}', {}))).toBe('custom.order: has no value')
    expect(refusal(() => fill('image', '{{custom.a}}{{custom.b}}{{contact.name}}', { b: 'x' }))).toBe(
      'custom.a, contact.name: have no value',
    )
  })

  it.each<[TemplateType, number]>([
    ['text', 4096],
    ['image', 1024],
    ['video', 1024],
    ['document', 1024],
  ])('of type %s has at most %i characters', (type, max) => {
    expect([...fill(type, '{{custom.a}}', { a: '👍'.repeat(max) })]).toHaveLength(max)
    for (const a of ['a'.repeat(max + 1), '👍'.repeat(max + 1), 'a'.repeat(1_000_000)]) {
      expect(refusal(() => fill(type, '{{custom.a}}', { a }))).toBe(`The rendered text has more than ${max} characters`)
    }
  })

  it('of type text is refused when empty, and of type document is not', () => {
    expect(refusal(() => fill('text', '{{custom.a}}', { a: '' }))).toBe('The rendered text is empty')
    expect(fill('document', '{{custom.a}}', { a: '' })).toBe('')
  })

  it('of type audio has no text', () => {
    const rendered = renderAs('audio', compileTemplate('{{custom.a}}'), { contact: null, custom: [] })
    expect([rendered, faultOf('audio', rendered)]).toEqual([{ body: '', missing: [] }, null])
    expect(fill('audio', 'Listen, {{contact.name}}', {})).toBe('')
  })
})
