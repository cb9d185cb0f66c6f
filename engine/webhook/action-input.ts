/** The input of an action as its webhook receives it: values that GraphQL coerces have the form of their types, whatever form the client
 *  wrote. A single value for a list is a list of one, and a number for an `ID` is a text. Everything else stays as it was written.
 *  In: values that have been checked (plan/input.ts). Source: GraphQL specification, "List", "ID", "Input Coercion". */
import { isNumber, numberText, wholeText } from '../json/number.ts';
import { isRecord } from '../json/value.ts';
import type { ActionTypes, CustomField, TypeUse } from '../resolve/model/custom-type.ts';

/** Returns the arguments, or the fields of an input object, in the form of their types. */
export function coercedFields(
  values: Readonly<Record<string, unknown>>,
  fields: readonly CustomField[],
  types: ActionTypes,
): Readonly<Record<string, unknown>> {
  const byName = new Map(fields.map(({ name, type }) => [name, type]));
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const type = byName.get(name);
      return [name, type ? coerced(value, type, types) : value];
    }),
  );
}

function coerced(value: unknown, type: TypeUse, types: ActionTypes): unknown {
  if (value === null) return null;
  if (type.kind === 'list') {
    const items = Array.isArray(value) ? value : [value];
    return items.map((item) => coerced(item, type.item, types));
  }
  if (type.name === 'ID') return isNumber(value) ? (wholeText(value) ?? numberText(value)) : value;
  const declared = types.declared.get(type.name);
  return declared?.kind === 'input' && isRecord(value) ? coercedFields(value, declared.fields, types) : value;
}
