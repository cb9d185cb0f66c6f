/** The paths of keys of joins in the answer to a query or mutation; null when it has none.
 *  In: a planned root. Out: JoinPaths. Relay pages have none (schema/remote-relationship.ts). */
import type { OutputPlan } from './action-types.ts';
import type { MutationOutput } from './mutation-types.ts';
import type { AggregateField, Field, QueryRoot } from './query-types.ts';
import type { JoinPaths } from './remote-types.ts';

export function pathsInFields(fields: readonly Field[]): JoinPaths | null {
  const own = new Map<string, number>();
  const inner = new Map<string, JoinPaths>();
  for (const field of fields) {
    if (field.kind === 'joined') own.set(field.alias, field.join);
    const paths = pathsIn(field);
    if (paths) inner.set(field.alias, paths);
  }
  return own.size + inner.size === 0 ? null : { own, inner };
}

function pathsIn(field: Field): JoinPaths | null {
  switch (field.kind) {
    case 'object':
    case 'array':
    case 'called':
      return pathsInFields(field.select.fields);
    case 'aggregate':
      return pathsInAggregate(field.output);
    default:
      return null;
  }
}

function pathsInAggregate(output: readonly AggregateField[]): JoinPaths | null {
  return pathsUnder(
    output.map((field) => [field.alias, field.kind === 'nodes' ? pathsInFields(field.fields) : null]),
  );
}

export function pathsInQuery(query: QueryRoot): JoinPaths | null {
  switch (query.kind) {
    case 'rows':
    case 'row':
    case 'stream':
      return pathsInFields(query.select.fields);
    case 'aggregate':
      return pathsInAggregate(query.output);
    default:
      return null;
  }
}

export function pathsInMutation(output: MutationOutput): JoinPaths | null {
  if (output.kind === 'row') return pathsInFields(output.select.fields);
  return pathsUnder(
    output.fields.map((field) => [
      field.alias,
      field.kind === 'returning' ? pathsInFields(field.select.fields) : null,
    ]),
  );
}

/** Returns the paths in an action's answer, whose joined rows may hold keys. */
export function pathsInOutput({ fields }: OutputPlan): JoinPaths | null {
  return pathsUnder(
    (fields ?? []).map((field) => {
      if (field.kind === 'constant') return [field.alias, null];
      return [field.alias, field.kind === 'value' ? pathsInOutput(field.value) : field.paths];
    }),
  );
}

function pathsUnder(entries: readonly (readonly [string, JoinPaths | null])[]): JoinPaths | null {
  const inner = new Map(entries.flatMap(([alias, paths]) => (paths ? [[alias, paths] as const] : [])));
  return inner.size === 0 ? null : { own: new Map(), inner };
}
