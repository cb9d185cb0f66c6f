/** Updates and deletes of a role that writes only rows it reads. Each is rolled back. Constraints look at hidden rows, too, and
 *  say so by design: columns of keys and references are not written, and rows that others may refer to are not deleted.
 *  In: choices, and what the role may name. Out: requests that can be run on any database of the world. */

import { answerOn } from '../../execute/answer-on.ts';
import { prepareDocument } from '../../plan/document.ts';
import { planRequest } from '../../plan/plan.ts';
import { coerceVariables } from '../../plan/variables.ts';
import { roleSchema } from '../../schema/role-schemas.ts';
import type { Asked, Side } from './asked.ts';
import { Choices } from './choices.ts';
import { makeCondition } from './condition.ts';
import { toArgument, valueArgument } from './condition-text.ts';
import { Writer } from './graphql-text.ts';
import { fieldsText } from './query-text.ts';
import { makeFields, type Sight } from './request.ts';
import type { Column, Table } from './world-types.ts';

/** Returned rows have no relationships: they are read in a statement of their own. */
const DEEPEST = 3;

export function makeUpdate(choices: Choices, sight: Sight): Asked | null {
  const able = sight.world.tables.filter((table) => settable(sight, table).length > 0);
  if (able.length === 0) return null;
  const table = choices.of(able);
  const columns = settable(sight, table);
  const [first = columns[0]!, ...more] = choices.some(columns, 40);
  const { names } = sight.world;
  const set = Object.fromEntries(
    [first, ...more].map((column) => [
      names.column(column),
      valueArgument(choices.of(column.type.values), column.type, names),
    ]),
  );
  return written(choices, sight, table, 'update', [{ name: names.word('_set'), type: null, value: set }]);
}

export function makeDelete(choices: Choices, sight: Sight): Asked | null {
  const { tables } = sight.world;
  const isReferred = (table: Table) =>
    tables.some(({ foreignKeys }) => foreignKeys.some(({ to }) => to === table));
  const able = tables.filter(
    (table) => isOwn(sight, table) && sight.role?.permissions.get(table)?.delete && !isReferred(table),
  );
  return able.length === 0 ? null : written(choices, sight, choices.of(able), 'delete', []);
}

/** True when the role has permissions of its own on the table. Those of an inherited role depend on what its parents agree on. */
function isOwn({ role }: Sight, table: Table): boolean {
  return role?.parents.length === 0 && role.permissions.get(table)?.select !== null;
}

function settable(sight: Sight, table: Table): readonly Column[] {
  const columns = sight.role?.permissions.get(table)?.update?.columns ?? [];
  if (!isOwn(sight, table) || table.partial) return [];
  const taken = [...table.key, table.unique, ...table.foreignKeys.flatMap((key) => key.columns)];
  return columns.filter((column) => !taken.includes(column) && !column.type.isEnum);
}

type Argument = Parameters<Writer['arguments']>[0][number];

function written(
  choices: Choices,
  sight: Sight,
  table: Table,
  kind: 'update' | 'delete',
  more: readonly Argument[],
): Asked {
  const { names } = sight.world;
  // All values are literals.
  const writer = new Writer(new Choices([]), names);
  const where = toArgument(makeCondition(choices, table, sight.words), names);
  const given = writer.arguments([{ name: 'where', type: null, value: where }, ...more]);
  const fields = fieldsText(makeFields(choices, sight, table, DEEPEST), writer);
  const rows = `${names.word('affected_rows')} returning ${fields}`;
  const text = `mutation { rows: ${names.root(table, kind)}${given} { ${rows} } }`;
  return { text: JSON.stringify({ query: text }), run: (side) => undone(text, side) };
}

class Undone extends Error {
  readonly answer: unknown;
  constructor(answer: unknown) {
    super('rolled back');
    this.answer = answer;
  }
}

async function undone(text: string, { model, databases, session }: Side): Promise<unknown> {
  const document = prepareDocument(roleSchema(model, session.role, false), text, null);
  const plan = planRequest(document, coerceVariables(document, null)).plan;
  try {
    return await databases.get('default').transaction({}, async (client) => {
      throw new Undone(
        await answerOn(client, plan, { sources: model.sources, session, limitMs: null, mostBytes: null }),
      );
    });
  } catch (error) {
    if (error instanceof Undone) return error.answer;
    throw error;
  }
}
