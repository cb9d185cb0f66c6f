/** Every breaking change that GraphQL finds between two schemas has the coordinates of the operations that it breaks. */
import { BreakingChangeType, buildSchema, findBreakingChanges, isInputObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { affectedCoordinates } from './affected-coordinates.ts';

const BEFORE = `
  type Query { list(first: Int, after: String, where: Where): [Item!] named: Named both: Both odd: Odd when: When gone: String }
  interface Named { name: String }
  type Item implements Named { id: Int name: String! status: Status }
  type Other { id: Int }
  union Both = Item | Other
  input Where { id: Int name: String size: Float }
  enum Status { open closed }
  type Odd { x: Int }
  scalar When
`;
const AFTER = `
  type Query { list(first: Int!, where: Where, by: Int!): [Item] named: Named both: Both odd: Odd left: Item }
  interface Named { name: String }
  type Item { id: ID name: String status: Status }
  type Other { id: Int }
  union Both = Other
  input Where { id: Int! name: Int added: Boolean! }
  enum Status { open }
  enum Odd { x }
`;

const [before, after] = [buildSchema(BEFORE), buildSchema(AFTER)];
const found = findBreakingChanges(before, after).map((change) => ({
  type: change.type,
  description: change.description,
  coordinates: affectedCoordinates(change, (name) => isInputObjectType(before.getType(name))),
}));
const of = (type: string) =>
  found
    .filter((change) => change.type === type)
    .map(({ coordinates }) => coordinates)
    .sort();

test.each([
  ['FIELD_REMOVED', [['Query.gone'], ['Query.when'], ['Where.size']]],
  // An input field that becomes required breaks who gives the input without it.
  ['FIELD_CHANGED_KIND', [['Item.id'], ['Item.name'], ['Query.list'], ['Where.id', 'Where'], ['Where.name']]],
  ['ARG_REMOVED', [['Query.list(after:)']]],
  // An argument that becomes required breaks who leaves it out.
  ['ARG_CHANGED_KIND', [['Query.list']]],
  ['REQUIRED_ARG_ADDED', [['Query.list']]],
  ['REQUIRED_INPUT_FIELD_ADDED', [['Where']]],
  ['VALUE_REMOVED_FROM_ENUM', [['Status.closed', 'Status.*']]],
  ['TYPE_REMOVED', [['Float'], ['When']]],
  ['TYPE_CHANGED_KIND', [['Odd']]],
  ['TYPE_REMOVED_FROM_UNION', [['Both']]],
  ['IMPLEMENTED_INTERFACE_REMOVED', [['Item', 'Named']]],
] as const)('%s', (type, expected) => {
  expect(of(type)).toEqual(expected);
});

test('no change between these schemas is left out, and each kind except those of directives occurs', () => {
  expect(found.filter(({ coordinates }) => coordinates === null)).toEqual([]);
  const kinds = Object.values(BreakingChangeType).filter((type) => !type.includes('DIRECTIVE'));
  expect(kinds.filter((kind) => of(kind).length === 0)).toEqual([]);
});

test('a change that is not understood concerns every operation', () => {
  const none = (type: string, description: string) => affectedCoordinates({ type, description }, () => false);
  expect(none('FIELD_REMOVED', 'The field a.b is gone')).toBeNull();
  expect(none('DIRECTIVE_REMOVED', 'Directive @x was removed.')).toBeNull();
  expect(none('toString', 'x')).toBeNull();
});
