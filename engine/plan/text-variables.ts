/** Variables given as text, in a URL or a form → values of their types: `?limit=10&flag` is `{limit: 10, flag: true}`. A text
 *  that does not parse stays a text, so that the validation of variables (variables.ts) reports it. A name given several times
 *  is a list, unlike in the reference. Pure. Reference: docs/reference/behaviour/endpoints.md. */
import { type GraphQLInputType, isInputObjectType, isListType, isNonNullType, isScalarType } from 'graphql';
import { own } from '../metadata/own.ts';
import { scalarOrigin } from '../schema/origin.ts';
import type { VariableDefinition } from './context.ts';

/** Returns the value of a variable; undefined counts as absent. `parseJson` raises the errors of invalid JSON. */
export function valueOfTexts(
  texts: readonly string[],
  { type, declared }: VariableDefinition,
  parseJson: (text: string) => unknown,
): unknown {
  const [first = '', ...others] = texts;
  const read = (text: string, of: GraphQLInputType | null) => valueOfText(text, of, parseJson);
  const inner = isNonNullType(type) ? type.ofType : type;
  if (isListType(inner)) {
    const isWhole = others.length === 0 && first.trimStart().startsWith('[');
    return isWhole ? json(first, parseJson) : texts.map((text) => read(text, inner.ofType));
  }
  if (others.length > 0) return texts.map((text) => read(text, inner));
  // Validation reports an empty text where a value is required.
  const mayBeAbsent = first === '' && formOf(inner) !== 'boolean' && !declared.endsWith('!');
  return mayBeAbsent ? undefined : read(first, inner);
}

type Form = 'text' | 'number' | 'boolean' | 'json';

/** Returns the notation of a type in a URL. Postgres parses its own numbers from text. */
function formOf(type: GraphQLInputType | null): Form {
  if (isInputObjectType(type) || isListType(type)) return 'json';
  if (!isScalarType(type)) return 'text';
  const scalar = scalarOrigin(type);
  if (!scalar) return own(BUILT_IN, type.name) ?? 'text';
  switch (scalar.input) {
    case 'int':
    case 'big-int':
    case 'float':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'json':
    case 'geojson':
      return 'json';
    case 'string':
    case 'any':
      return 'text';
    default:
      return scalar.input satisfies never;
  }
}

const BUILT_IN: Readonly<Record<string, Form>> = { Int: 'number', Float: 'number', Boolean: 'boolean' };

function valueOfText(
  text: string,
  type: GraphQLInputType | null,
  parseJson: (text: string) => unknown,
): unknown {
  const form = formOf(isNonNullType(type) ? type.ofType : type);
  switch (form) {
    case 'text':
      return text;
    case 'number':
      return /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? json(text, parseJson) : text;
    case 'boolean':
      return text === '' || (BOOLEANS[text.toLowerCase()] ?? text);
    case 'json':
      return json(text, parseJson);
    default:
      return form satisfies never;
  }
}

const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, false: false };

function json(text: string, parseJson: (text: string) => unknown): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
