/** Generates GraphQL documents from a schema: mostly existing fields with arguments of their types, and damaged text. In: choices.
 *  Out: text and variables. Not here: requests that test permissions (engine/oracle). GraphQL spec, "Language". */
import {
  type GraphQLArgument,
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { Choices } from '../../engine/oracle/testing/choices.ts';
import { anyJson, anyText } from './hostile-values.ts';

const DEEPEST = 4;
const VARIABLES = ['id', 'a', 'b'] as const;

export function graphqlText(choices: Choices, schema: GraphQLSchema): string {
  const [word, root] = choices.of([
    ['query', schema.getQueryType()],
    ['query', schema.getQueryType()],
    ['mutation', schema.getMutationType()],
    ['subscription', schema.getSubscriptionType()],
  ] as const);
  const declared = choices.chance(40)
    ? `($id: ${choices.of(['bigint', 'Int!', 'String = "x"', '[author_bool_exp!]', 'Nothing'])})`
    : '';
  const fragment = choices.chance(10) ? ' fragment f on author { id ...f }' : '';
  const directive = choices.chance(4)
    ? ` @${choices.of(['cached', 'include(if: true)', 'skip(if: $id)', 'nothing'])}`
    : '';
  const text = `${word}${declared}${directive} ${root ? selection(choices, root, 0) : '{ __typename }'}${fragment}`;
  if (!choices.chance(8)) return text;
  const at = choices.below(text.length);
  return (
    text.slice(0, at) +
    choices.of([anyText(choices), '{', '}', '...f', '"""', '#', '(']) +
    text.slice(at + choices.below(3))
  );
}

export function variablesOf(choices: Choices): unknown {
  if (choices.chance(5)) return anyJson(choices);
  return Object.fromEntries(
    VARIABLES.slice(0, choices.chance(90) ? 1 : 3).map((name) => [
      name,
      choices.chance(40) ? anyJson(choices) : choices.below(30),
    ]),
  );
}

function selection(choices: Choices, type: GraphQLOutputType, depth: number): string {
  const named = getNamedType(type);
  if (isLeafType(named)) return '';
  if (!isObjectType(named)) return '{ __typename }';
  const all = Object.values(named.getFields());
  const fields = depth < DEEPEST ? all : all.filter((field) => isLeafType(getNamedType(field.type)));
  if (fields.length === 0) return '{ __typename }';
  const chosen = choices.times(1 + choices.below(3), (i) => {
    const field = choices.of(fields);
    const alias = choices.chance(15) ? `${choices.of(['a', 'b', 'id'])}: ` : i === 0 ? '' : `f${i}: `;
    return `${alias}${field.name}${argumentsOf(choices, field.args)} ${selection(choices, field.type, depth + 1)}`;
  });
  return `{ ${chosen.join(' ')} }`;
}

function argumentsOf(choices: Choices, args: readonly GraphQLArgument[]): string {
  const given = args.filter((arg) => choices.chance(isNonNullType(arg.type) ? 97 : 35));
  if (given.length === 0) return '';
  return `(${given.map((arg) => `${arg.name}: ${literal(choices, arg.type, 0)}`).join(', ')})`;
}

function literal(choices: Choices, type: GraphQLInputType, depth: number): string {
  if (choices.chance(4))
    return choices.of([
      'null',
      '$id',
      '$a',
      '{}',
      '[]',
      '1',
      '""',
      'nothing',
      JSON.stringify(anyText(choices)),
    ]);
  if (isNonNullType(type)) return literal(choices, type.ofType, depth);
  if (isListType(type)) {
    const items = choices.times(choices.below(3), () => literal(choices, type.ofType, depth + 1));
    return `[${items.join(', ')}]`;
  }
  if (isEnumType(type)) return choices.of(type.getValues()).name;
  if (!isInputObjectType(type)) return scalar(choices, type.name);
  const fields = Object.values(type.getFields()).filter((field) =>
    choices.chance(isNonNullType(field.type) ? 97 : depth > 3 ? 0 : 20),
  );
  return `{${fields.map((field) => `${field.name}: ${literal(choices, field.type, depth + 1)}`).join(', ')}}`;
}

function scalar(choices: Choices, name: string): string {
  if (name === 'Boolean') return choices.of(['true', 'false']);
  if (name === 'Int')
    return choices.of(['1', '0', '-1', '10', '2147483647', '2147483648', '99999999999', '9'.repeat(30)]);
  return choices.of([
    '1',
    '0',
    '-9223372036854775808',
    '99999999999999999999',
    '1e400',
    '"2020-01-01"',
    '"a"',
    '{a: [1]}',
    '"{a,b}"',
    JSON.stringify(anyText(choices)),
  ]);
}
