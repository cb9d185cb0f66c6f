/** Joins what is found elsewhere to a part of the response: collects the keys that stand in its places, asks once for all that
 *  are distinct, and puts the answers there; what the answers have joined to them comes after, level by level.
 *  Only parts with places are parsed. A remote schema that cannot be asked, or a key that a database cannot read, leaves fields
 *  null, and is told of; errors a remote schema answers with are raised as `remoteErrors`. Not here: what is asked of a remote schema (remote-join-request.ts).
 *  Reference: docs/reference/behaviour/remote-schemas.md; docs/reference/behaviour/errors.md. */

import type { Row } from '../database/pool.ts';
import { EngineError } from '../errors/engine-error.ts';
import { parseJson } from '../json/parse-json.ts';
import { isRecord } from '../json/value.ts';
import { own } from '../metadata/own.ts';
import { KEYS_VARIABLE } from '../plan/keyed-rows.ts';
import type { JoinPlaces, RowsJoin } from '../plan/remote-types.ts';
import type { TemplatePart } from '../sql/plan.ts';
import { textOfColumn } from '../wire/statement.ts';
import type { CallContext } from './calls.ts';
import type { PlannedRequest, ReadyJoin, ReadyStatement } from './plan-cache.ts';
import { toldAt } from './remote-call.ts';
import { askForKeys } from './remote-join-request.ts';
import { runPlan } from './run-plan.ts';
import { bodyText, type Called, splice } from './splice.ts';

export type Joined = {
  /** With the finished text in place of every part that had places. */
  readonly template: readonly TemplatePart[];
  readonly errors: readonly unknown[];
};

export async function withJoins(
  template: readonly TemplatePart[],
  { rows, called }: { readonly rows: readonly Row[]; readonly called: Called },
  asked: PlannedRequest,
  context: CallContext,
): Promise<Joined> {
  if (asked.plan.joins.length === 0) return { template, errors: [] };
  const errors: unknown[] = [];
  const parts = template.map(async (part): Promise<TemplatePart> => {
    if (part.kind === 'text' || !part.joined) return part;
    const value = parseJson(bodyText(splice([part], rows, called)));
    await graft(value, part.joined.places, part.joined.path, { asked, context, errors });
    return { kind: 'text', text: JSON.stringify(value) };
  });
  return { template: await Promise.all(parts), errors };
}

export type Around = {
  readonly asked: PlannedRequest;
  readonly context: CallContext;
  /** Of remote schemas that could not be asked. */
  readonly errors: unknown[];
};

/** A field with keys in it. */
type Slot = { readonly object: object; readonly alias: string; readonly keys: readonly unknown[] };

type Found = { readonly slots: Slot[]; readonly path: readonly string[] };

/** Changes the value. `path`: where it is in the response. */
export async function graft(
  value: unknown,
  places: JoinPlaces,
  path: readonly string[],
  around: Around,
): Promise<void> {
  const found = new Map<number, Found>();
  collect(value, places, path, found);
  await Promise.all(
    [...found].map(([number, { slots, path: at }]) => {
      return fill(number, slots, { ...around, path: at });
    }),
  );
}

function collect(
  value: unknown,
  places: JoinPlaces,
  path: readonly string[],
  found: Map<number, Found>,
): void {
  if (Array.isArray(value)) {
    for (const item of value) collect(item, places, path, found);
    return;
  }
  if (!isRecord(value)) return;
  const note = (join: number, alias: string, keys: readonly unknown[]) => {
    put(value, alias, null);
    const known = found.get(join) ?? { slots: [], path: [...path, alias] };
    found.set(join, known);
    known.slots.push({ object: value, alias, keys });
  };
  const entries = Object.entries(value);
  if (places.spread) gather(value, entries, places.spread, note);
  for (const [alias, member] of entries) {
    const join = places.own.get(alias);
    const inner = places.inner.get(alias);
    if (inner) collect(member, inner, [...path, alias], found);
    if (join !== undefined && Array.isArray(member)) note(join, alias, member);
  }
}

/** Takes members that are keys out of the object. Its other members stay in their order. */
function gather(
  object: object,
  entries: readonly (readonly [string, unknown])[],
  spread: NonNullable<JoinPlaces['spread']>,
  note: (join: number, alias: string, keys: readonly unknown[]) => void,
): void {
  const members = new Map(entries);
  for (const [name, member] of entries) {
    Reflect.deleteProperty(object, name);
    const at = spread.get(name);
    if (!at) put(object, name, member);
    else if (name === at.first) {
      const keys = at.names.map((each) => members.get(each) ?? null);
      note(at.join, at.alias, keys);
    }
  }
}

async function fill(
  number: number,
  slots: readonly Slot[],
  around: Around & { readonly path: readonly string[] },
): Promise<void> {
  const ready = around.asked.plan.joins[number]!;
  const places = new Map<string, number>();
  const distinct: (readonly unknown[])[] = [];
  const chosen = slots.map(({ keys }) => {
    const text = JSON.stringify(keys);
    const place = places.get(text) ?? distinct.push(keys) - 1;
    places.set(text, place);
    return place;
  });
  const answers = await answersTo(number, ready, distinct, around);
  if (ready.join.places) await graft(answers, ready.join.places, around.path, around);
  for (const [i, { object, alias }] of slots.entries()) {
    const before = own(object as Record<string, unknown>, alias);
    put(object, alias, merged(before, answers[chosen[i]!]));
  }
}

/** Fragments on an interface and on an object of it may ask for parts of one field. */
function merged(one: unknown, other: unknown): unknown {
  if (Array.isArray(one) && Array.isArray(other)) return one.map((item, i) => merged(item, other[i]));
  if (!isRecord(one) || !isRecord(other)) return one ?? other;
  const object = { ...one };
  for (const [name, member] of Object.entries(other)) put(object, name, merged(own(object, name), member));
  return object;
}

/** `__proto__` is a name like any other. Assigning is twice as fast. */
function put(object: object, name: string, value: unknown): void {
  if (name !== '__proto__') (object as Record<string, unknown>)[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

/** One for each of the keys. Raises what the other side cannot do where the field is never null. */
async function answersTo(
  number: number,
  { join, statement }: ReadyJoin,
  keys: readonly (readonly unknown[])[],
  { asked, context, path, errors }: Around & { readonly path: readonly string[] },
): Promise<readonly unknown[]> {
  const nothing = keys.map(() => null);
  const failed = (error: unknown): readonly unknown[] => {
    errors.push(toldAt(error, path, context.outbound));
    return nothing;
  };
  if (join.kind === 'rows') {
    const rows = rowsFor(number, join, statement!, keys, asked, context);
    return join.isNullable ? rows.catch(failed) : rows;
  }
  const whole = keys.flatMap((key, i) => (key.includes(null) ? [] : [i]));
  if (whole.length === 0) return nothing;
  const wanted = whole.map((i) => keys[i]!);
  const found = await askForKeys(join, wanted, asked, context).catch(failed);
  const wrong = found.find((each) => each instanceof EngineError);
  if (wrong) failed(wrong);
  const answers: unknown[] = [...nothing];
  for (const [place, i] of whole.entries()) {
    answers[i] = found[place] instanceof EngineError ? null : found[place];
  }
  return answers;
}

async function rowsFor(
  number: number,
  { width, member }: RowsJoin,
  statement: ReadyStatement,
  keys: readonly (readonly unknown[])[],
  { variables }: PlannedRequest,
  { session, databases }: CallContext,
): Promise<readonly unknown[]> {
  const columns = Array.from({ length: width }, (_, i) => keys.map((key) => key[i]));
  const bound = { ...variables.values, [KEYS_VARIABLE]: { [number]: columns } };
  const plan = { operation: 'query', statements: [statement] } as const;
  const [row] = await runPlan(plan, { session, variables: bound }, databases);
  const found = parseJson(textOfColumn(row?.[0] ?? null) ?? '[]') as readonly Record<string, unknown>[];
  return found.map((each) => each[member]);
}
