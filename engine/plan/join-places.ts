/** Where the answer to a query or mutation has keys of joins: read off what is asked. Null where it has none.
 *  In: a planned root. Out: JoinPlaces. Pages of relay have none (schema/remote-relationship.ts). */
import type { OutputPlan } from './action-types.ts';
import type { MutationOutput } from './mutation-types.ts';
import type { AggregateField, Field, QueryRoot } from './query-types.ts';
import type { JoinPlaces } from './remote-types.ts';

export function placesInFields(fields: readonly Field[]): JoinPlaces | null {
  const own = new Map<string, number>();
  const inner = new Map<string, JoinPlaces>();
  for (const field of fields) {
    if (field.kind === 'joined') own.set(field.alias, field.join);
    const places = placesIn(field);
    if (places) inner.set(field.alias, places);
  }
  return own.size + inner.size === 0 ? null : { own, inner };
}

function placesIn(field: Field): JoinPlaces | null {
  switch (field.kind) {
    case 'object':
    case 'array':
    case 'called':
      return placesInFields(field.select.fields);
    case 'aggregate':
      return placesInAggregate(field.output);
    default:
      return null;
  }
}

function placesInAggregate(output: readonly AggregateField[]): JoinPlaces | null {
  return placesUnder(
    output.map((field) => [field.alias, field.kind === 'nodes' ? placesInFields(field.fields) : null]),
  );
}

export function placesInQuery(query: QueryRoot): JoinPlaces | null {
  switch (query.kind) {
    case 'rows':
    case 'row':
    case 'stream':
      return placesInFields(query.select.fields);
    case 'aggregate':
      return placesInAggregate(query.output);
    default:
      return null;
  }
}

export function placesInMutation(output: MutationOutput): JoinPlaces | null {
  if (output.kind === 'row') return placesInFields(output.select.fields);
  return placesUnder(
    output.fields.map((field) => [
      field.alias,
      field.kind === 'returning' ? placesInFields(field.select.fields) : null,
    ]),
  );
}

/** In the rows that are joined to an action's answer. */
export function placesInOutput({ fields }: OutputPlan): JoinPlaces | null {
  return placesUnder(
    (fields ?? []).map((field) => {
      if (field.kind === 'constant') return [field.alias, null];
      return [field.alias, field.kind === 'value' ? placesInOutput(field.value) : field.places];
    }),
  );
}

function placesUnder(entries: readonly (readonly [string, JoinPlaces | null])[]): JoinPlaces | null {
  const inner = new Map(entries.flatMap(([alias, places]) => (places ? [[alias, places] as const] : [])));
  return inner.size === 0 ? null : { own: new Map(), inner };
}
