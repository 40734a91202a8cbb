// What can be done with templates, and what others make of them.
export { faultOf, fillIn, renderAs, type TemplateText, type TemplateType, templateTypes } from './policy.ts'
export { type Compiled, compileTemplate, type Rendered, type TemplateContact, type Values } from './render.ts'
