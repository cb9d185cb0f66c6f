/** Variables that come as text, in a URL or a form, as the values their types ask for: `?limit=10&flag` is `{limit: 10,
 *  flag: true}`. What cannot be read stays text, so that the check of the variables (variables.ts) names it.
 *  Reference: docs/reference/behaviour/endpoints.md; a name given several times is a list, which is ours. Pure. */
import { type GraphQLInputType, isInputObjectType, isListType, isNonNullType, isScalarType } from 'graphql';
import { own } from '../metadata/own.ts';
import { scalarOrigin } from '../schema/origin.ts';
import type { VariableDefinition } from './context.ts';

/** `undefined`: as if it had not been given. `parseJson` raises for text that is none. */
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
  // Nothing is a value of no other type; where there must be one, the check says so.
  const isText = isScalarType(inner) && formOf(inner) === 'text';
  const mayBeAbsent = first === '' && !isText && formOf(inner) !== 'boolean' && !declared.endsWith('!');
  return mayBeAbsent ? undefined : read(first, inner);
}

type Form = 'text' | 'number' | 'boolean' | 'json';

/** How a value of the type is written in a URL. Numbers of Postgres are left to Postgres, which reads text. */
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
