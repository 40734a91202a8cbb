// Pothos plugin: a field lists the errors it can give in `errors`. The list becomes the last sentence of its description.
import SchemaBuilder, {
  BasePlugin,
  type FieldNullability,
  type InputFieldMap,
  type PothosOutputFieldConfig,
  type SchemaTypes,
  type TypeParam,
} from '@pothos/core'
import type { ErrorCode } from '../errors.ts'

/** A code, or a code with the case it stands for: `{ FORBIDDEN: 'for collaborators' }`. */
type FieldError = ErrorCode | { [Code in ErrorCode]?: string }

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      fieldErrors: FieldErrorsPlugin<Types>
    }

    export interface FieldOptions<
      Types extends SchemaTypes = SchemaTypes,
      ParentShape = unknown,
      Type extends TypeParam<Types> = TypeParam<Types>,
      Nullable extends FieldNullability<Type> = FieldNullability<Type>,
      Args extends InputFieldMap = InputFieldMap,
      ResolveShape = unknown,
      ResolveReturnShape = unknown,
    > {
      /** The errors of this operation. Errors that every operation can give are not listed. */
      errors?: readonly FieldError[]
    }
  }
}

class FieldErrorsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(field: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const { description, extensions, pothosOptions } = field
    if (!pothosOptions.errors) return field
    const errors = pothosOptions.errors.flatMap((error): string[][] =>
      typeof error === 'string' ? [[error]] : Object.entries(error),
    )
    return {
      ...field,
      description: `${description} Errors: ${errors.map((words) => words.join(' ')).join(', ')}.`,
      // The OpenAPI documents list the errors separately.
      extensions: { ...extensions, documented: { description, errors: errors.map(([code]) => code) } },
    }
  }
}

export const fieldErrors = 'fieldErrors'
SchemaBuilder.registerPlugin(fieldErrors, FieldErrorsPlugin)
