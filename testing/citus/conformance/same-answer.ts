/** Two answers to a request, of a plain Postgres and of a cluster → whether they are the same. Lists without an order are compared as sets, since a
 *  cluster has no order of its own, and of a list that is cut without an order the length only. In: the request and both bodies. Out: a
 *  text of each that is equal when the answers are the same. */
import { type DocumentNode, type FieldNode, Kind, parse, type SelectionSetNode } from 'graphql';

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
type Members = { readonly [name: string]: Json };

/** Returns a text of the answer to a request of `/v1/graphql` or `/v1beta1/relay`. Errors have their code and path. */
export function graphqlText(query: string, operationName: string | undefined, answer: unknown): string {
  const { data, errors } = Object(answer) as { data?: Json; errors?: readonly Members[] };
  if (errors) return JSON.stringify({ data, errors: errors.map(errorOf) });
  const document = parsed(query);
  const operations = document?.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION) ?? [];
  const operation = operations.find(({ name }) => name?.value === operationName) ?? operations[0];
  if (!document || !operation) return JSON.stringify(inSomeOrder((data ?? null) as Json));
  return JSON.stringify(selected(data ?? null, operation.selectionSet, document, false));
}

/** Returns a text of the answer of another endpoint, without the causes of errors. */
export function otherText(answer: unknown): string {
  const members = Object(answer) as Members;
  if (members['error'] !== undefined && members['code'] !== undefined) {
    return JSON.stringify({ code: members['code'], path: members['path'] });
  }
  return JSON.stringify(inSomeOrder(answer as Json));
}

function errorOf({ extensions }: Members): Json {
  const { code = null, path = null } = Object(extensions) as Members;
  return { code, path };
}

function parsed(query: string): DocumentNode | null {
  try {
    return parse(query);
  } catch {
    return null;
  }
}

/** Returns the value with each list that has no order sorted. `isOrdered` says whether the value itself is in an order. */
function selected(value: Json, set: SelectionSetNode, document: DocumentNode, isOrdered: boolean): Json {
  if (Array.isArray(value)) {
    const items = value.map((each: Json) => selected(each, set, document, false));
    return isOrdered ? items : sorted(items);
  }
  if (value === null || typeof value !== 'object') return value;
  const fields = new Map(fieldsOf(set, document).map((each) => [(each.alias ?? each.name).value, each]));
  return Object.fromEntries(
    Object.entries(value as Members).map(([key, each]) => {
      const field = fields.get(key);
      return [key, field ? selectedField(each, field, document, isOrdered) : each];
    }),
  );
}

const CUTS = ['limit', 'offset', 'distinct_on', 'first', 'last'];

function selectedField(value: Json, field: FieldNode, document: DocumentNode, isOuterOrdered: boolean): Json {
  const names = (field.arguments ?? []).map(({ name }) => name.value);
  const isOrdered = names.includes('order_by') || field.name.value.startsWith('insert_');
  if (!isOrdered && names.some((name) => CUTS.includes(name))) {
    return Array.isArray(value) ? value.length : null;
  }
  // Nodes, edges and written rows have the order of the field that they are in.
  const isInner = ['nodes', 'edges', 'returning'].includes(field.name.value) && isOuterOrdered;
  return field.selectionSet ? selected(value, field.selectionSet, document, isOrdered || isInner) : value;
}

function fieldsOf({ selections }: SelectionSetNode, document: DocumentNode): readonly FieldNode[] {
  return selections.flatMap((each) => {
    if (each.kind === Kind.FIELD) return [each];
    if (each.kind === Kind.INLINE_FRAGMENT) return fieldsOf(each.selectionSet, document);
    const fragment = document.definitions.find(
      (other) => other.kind === Kind.FRAGMENT_DEFINITION && other.name.value === each.name.value,
    );
    return fragment?.kind === Kind.FRAGMENT_DEFINITION ? fieldsOf(fragment.selectionSet, document) : [];
  });
}

function inSomeOrder(value: Json): Json {
  if (Array.isArray(value)) return sorted(value.map(inSomeOrder));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value as Members)
      .filter(([key]) => key !== 'internal')
      .map(([key, each]) => [key, inSomeOrder(each)]),
  );
}

function sorted(items: readonly Json[]): Json {
  const texts = items.map((each) => [JSON.stringify(each), each] as const);
  return texts.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0)).map(([, each]) => each);
}
