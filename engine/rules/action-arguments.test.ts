/** Arguments of actions: their names and the kinds of their types. Rule: docs/reference/behaviour/actions.md, "Custom types". */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { adminOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

let world: RuleWorld;
beforeAll(async () => {
  world = await startWorld({
    sql: 'create table note (id int primary key)',
    tables: ['note'],
    operations: [
      [
        'set_custom_types',
        {
          scalars: [{ name: 'Free' }],
          enums: [{ name: 'Choice', values: [{ value: 'a' }] }],
          input_objects: [{ name: 'Given', fields: [{ name: 'a', type: 'Int' }] }],
          objects: [{ name: 'Found', fields: [{ name: 'a', type: 'Int' }] }],
        },
      ],
    ],
  });
});
afterAll(() => world?.close());

async function create(definition: object): Promise<unknown> {
  const complete = { handler: 'http://127.0.0.1:1', output_type: 'Found', ...definition };
  const outcome = await adminOutcome(world.engine, 'create_action', { name: 'act', definition: complete });
  if ('data' in outcome) await adminOutcome(world.engine, 'drop_action', { name: 'act' });
  return outcome;
}
const SUCCESS = { data: { message: 'success' } };
const refused = (reason: string) => ({
  code: 'invalid-configuration',
  path: '$.args',
  message: `Inconsistent object: in action "act"; ${reason}`,
});

const TYPES = ['Int', 'Free', 'Choice', 'Given', '[Given!]!', 'Found', '[Found]', 'Missing', '[', 'uuid'];
const NAMES = ['a', 'output', 'type', 'input', '_a'];
const cases = NAMES.flatMap((name) => TYPES.map((type) => ({ name, type })));
test.each(cases)('the argument $name of type $type', async ({ name, type }) => {
  const problem = type.includes('Found')
    ? 'is an output type'
    : type === 'Missing'
      ? 'does not exist'
      : type === '['
        ? 'is no type'
        : null;
  expect(await create({ arguments: [{ name, type }] })).toEqual(
    problem === null ? SUCCESS : refused(`the type of the argument "${name}", "${type}", ${problem}`),
  );
});

test.each([
  [['a', 'b', 'a'], '"a"'],
  [['a', 'b', 'b', 'a', 'c'], '"b", "a"'],
])('arguments %j that are declared twice are refused by name', async (names, twice) => {
  const given = names.map((name) => ({ name, type: 'Int' }));
  expect(await create({ arguments: given })).toEqual(refused(`the action has duplicate arguments: ${twice}`));
});

test.each([
  ['Given', 'is an input type'],
  ['Missing', 'does not exist'],
])('the output type %s', async (type, problem) => {
  expect(await create({ output_type: type })).toEqual(refused(`the output type, "${type}", ${problem}`));
});
