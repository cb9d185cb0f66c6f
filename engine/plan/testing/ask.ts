/** A world to plan against, for the twins of plan/ and schema/: the authors of resolve's small world, with a reader's
 *  permissions. In: request text and variables. Out: its plan, its shape, or the error as `path: message`. */
import { EngineError, printPath } from '../../errors/engine-error.ts';
import type { Table } from '../../metadata/schema/table.ts';
import type { Model } from '../../resolve/model/model.ts';
import { AUTHORS, catalogOf, resolveTables, tableIn } from '../../resolve/testing/small-world.ts';
import { type RoleSchema, roleSchema } from '../../schema/role-schemas.ts';
import type { PreparedDocument } from '../context.ts';
import { prepareDocument } from '../document.ts';
import { planRequest } from '../plan.ts';
import type { Select } from '../query-types.ts';
import type { Plan } from '../types.ts';
import { coerceVariables } from '../variables.ts';

type Given = Readonly<Record<string, unknown>>;

const reader = (columns: readonly string[], filter: Given = {}, rest: Given = {}) => ({
  select_permissions: [{ role: 'reader', permission: { columns: [...columns], filter, ...rest } }],
});

const TABLES: Readonly<Record<string, Partial<Table>>> = {
  author: {
    array_relationships: [
      {
        name: 'articles',
        using: {
          foreign_key_constraint_on: { table: { schema: 'public', name: 'article' }, columns: ['author_id'] },
        },
      },
    ],
    ...reader(['id', 'name', 'meta']),
  },
  article: {
    object_relationships: [
      { name: 'author', using: { foreign_key_constraint_on: ['author_id'] } },
      { name: 'editor', using: { foreign_key_constraint_on: ['editor_id'] } },
    ],
    ...reader(
      ['id', 'title', 'author_id'],
      { is_published: { _eq: true } },
      { limit: 10, allow_aggregations: true },
    ),
  },
  profile: {},
  everything: {},
};

const EVERYTHING = tableIn(
  'everything',
  {
    id: 'int8!',
    small: 'int2',
    ratio: 'float4',
    exact: 'numeric',
    is_on: 'bool',
    key: 'uuid',
    raw: 'json',
    doc: 'jsonb',
    numbers: 'int4[]',
    shape: 'inet',
  },
  { primaryKey: ['id'] },
);

export const MODEL: Model = resolveTables(TABLES, catalogOf(...AUTHORS.tables.values(), EVERYTHING)).model;

export const as = (role: string): RoleSchema => roleSchema(MODEL, role, false);

export function prepare(text: string, role = 'admin', operationName: string | null = null): PreparedDocument {
  return prepareDocument(as(role), text, operationName);
}

export function planOf(text: string, variables: Given | null = null, role = 'admin'): Plan {
  const document = prepare(text, role);
  return planRequest(document, coerceVariables(document, variables)).plan;
}

/** The select of the only root. */
export function selectOf(text: string, variables: Given | null = null, role = 'admin'): Select {
  const [root] = planOf(text, variables, role).roots;
  if (root?.kind !== 'database') throw new Error('the root is not of the database');
  if (root.query.kind === 'groups') throw new Error('the root selects groups');
  return root.query.select;
}

/** `$.selectionSet.author: field …`, or `no error`. */
export function errorOf(body: () => unknown): string {
  try {
    body();
    return 'no error';
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return `${printPath(error.path)}: ${error.messageIn('newer')}`;
  }
}

export const refusal = (text: string, variables: Given | null = null, role = 'admin'): string =>
  errorOf(() => planOf(text, variables, role));
