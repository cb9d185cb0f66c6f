/** The join: puts what keyed steps find to the keys in earlier results. It collects the keys, requests each distinct key once, and
 *  puts the answers in place of the keys, level by level, since answers may hold keys themselves.
 *  Only columns with keys are parsed. If the other side of a nullable field fails, the field becomes null and an error stands at its
 *  path. Errors that a remote schema answers with are raised as `remoteErrors`.
 *  Not here: the request to a remote schema (remote/keyed-request.ts), positions of keys (plan/join-paths.ts).
 *  Reference: docs/reference/behaviour/remote-schemas.md; docs/reference/behaviour/errors.md. */

import { parseJson } from '../json/parse-json.ts';
import { isRecord } from '../json/value.ts';
import { own } from '../metadata/own.ts';
import { KEYS_VARIABLE } from '../plan/keyed-rows.ts';
import type { JoinPaths } from '../plan/remote-types.ts';
import { type Key, requestByKeys } from '../remote/keyed-request.ts';
import type { KeyedRead, KeyedStep } from '../sql/plan.ts';
import { type Column, type Row, textOfColumn } from '../wire/statement.ts';
import { joinFailure } from './remote.ts';
import { runQuery } from './statements.ts';
import { bindingOf, holdParsed, type RunContext } from './step-types.ts';

/** Runs keyed steps for the keys in the rows. Out: the rows with finished JSON text in place of every column that had keys. */
export async function joinKeyedSteps(
  rows: readonly Row[],
  run: RunContext,
): Promise<{ readonly rows: readonly Row[]; readonly errors: readonly unknown[] }> {
  const errors: unknown[] = [];
  const joined: Column[][] = rows.map((row) => [...row]);
  const joining = run.planned.plan.template.map(async (part) => {
    if (part.kind !== 'column' || !part.joined) return;
    const { step, column } = part;
    const { paths, path } = part.joined;
    const keyed = rows[step]?.[column] ?? null;
    holdParsed(keyed, run);
    const value = parseJson(textOfColumn(keyed) ?? 'null');
    await joinInto(value, paths, path, run, errors);
    joined[step]![column] = JSON.stringify(value);
  });
  await Promise.all(joining);
  return { rows: joined, errors };
}

/** Reads rows by keys. In: the keys of each of the read's columns. Out: for each column the row of each key, where equal keys share
 *  a row. `rowsIn` splits a column's JSON array. */
export async function rowsOfEach<T>(
  read: KeyedRead,
  keys: readonly (readonly Key[])[],
  rowsIn: (json: string) => readonly T[],
  run: RunContext,
): Promise<readonly (readonly T[])[]> {
  const wanted = keys.map(distinctKeys);
  if (wanted.every(({ distinct }) => distinct.length === 0)) return wanted.map(() => []);
  const columns = await readByKeys(
    read,
    wanted.map(({ distinct }) => distinct),
    run,
  );
  return wanted.map(({ indexOf }, i) => {
    const rows = rowsIn(columns[i]!);
    return indexOf.map((index) => rows[index]!);
  });
}

/** Returns a JSON array for each column of the read, with an object for each key of the column. */
async function readByKeys(
  { statements, columns }: KeyedRead,
  keys: readonly (readonly Key[])[],
  run: RunContext,
): Promise<readonly string[]> {
  const values = columns.map(({ width }, column) =>
    Array.from({ length: width }, (_, i) => keys[column]!.map((key) => key[i])),
  );
  const binding = bindingOf(run);
  const bound = { ...binding, variables: { ...binding.variables, [KEYS_VARIABLE]: values } };
  const rows = await Promise.all(statements.map((statement) => runQuery(statement, bound, run.databases)));
  return columns.map(({ statement, column }) => {
    const found = rows[statement]?.[column] ?? null;
    holdParsed(found, run);
    return textOfColumn(found) ?? '[]';
  });
}

/** Returns the distinct keys, compared by value, and for each key its index among them. */
function distinctKeys(keys: readonly Key[]): {
  readonly distinct: readonly Key[];
  readonly indexOf: readonly number[];
} {
  const indices = new Map<string, number>();
  const distinct: Key[] = [];
  const indexOf = keys.map((key) => {
    const text = JSON.stringify(key);
    const index = indices.get(text) ?? distinct.push(key) - 1;
    indices.set(text, index);
    return index;
  });
  return { distinct, indexOf };
}

/** A field that is joined: its object, its alias, and its key. */
type Slot = { readonly object: object; readonly alias: string; readonly key: Key };

/** The fields of one keyed step, and their path in the response. */
type Slots = { readonly slots: Slot[]; readonly path: readonly string[] };

/** Joins into a value, which it changes. `path` is that of the value in the response. Adds to `errors`. */
export async function joinInto(
  value: unknown,
  paths: JoinPaths,
  path: readonly string[],
  run: RunContext,
  errors: unknown[],
): Promise<void> {
  const found = new Map<number, Slots>();
  collect(value, paths, path, found);
  await Promise.all([...found].map(([step, slots]) => fill(step, slots, run, errors)));
}

function collect(value: unknown, paths: JoinPaths, path: readonly string[], found: Map<number, Slots>): void {
  if (Array.isArray(value)) {
    for (const item of value) collect(item, paths, path, found);
    return;
  }
  if (!isRecord(value)) return;
  const add = (join: number, alias: string, key: Key) => {
    put(value, alias, null);
    const ofStep = found.get(join) ?? { slots: [], path: [...path, alias] };
    found.set(join, ofStep);
    ofStep.slots.push({ object: value, alias, key });
  };
  const entries = Object.entries(value);
  if (paths.spread) gather(value, entries, paths.spread, add);
  for (const [alias, member] of entries) {
    const join = paths.own.get(alias);
    const inner = paths.inner.get(alias);
    if (inner) collect(member, inner, [...path, alias], found);
    if (join !== undefined && Array.isArray(member)) add(join, alias, member);
  }
}

/** Removes members that are values of keys from the object. Its other members keep their order. */
function gather(
  object: object,
  entries: readonly (readonly [string, unknown])[],
  spread: NonNullable<JoinPaths['spread']>,
  add: (join: number, alias: string, key: Key) => void,
): void {
  const members = new Map(entries);
  for (const [name, member] of entries) {
    Reflect.deleteProperty(object, name);
    const at = spread.get(name);
    if (!at) put(object, name, member);
    else if (name === at.first) {
      const key = at.names.map((each) => members.get(each) ?? null);
      add(at.join, at.alias, key);
    }
  }
}

async function fill(
  index: number,
  { slots, path }: Slots,
  run: RunContext,
  errors: unknown[],
): Promise<void> {
  const step = run.planned.plan.keyedSteps[index]!;
  const { distinct, indexOf } = distinctKeys(slots.map(({ key }) => key));
  const failed = (error: unknown): null => {
    errors.push(joinFailure(error, path, run.outbound));
    return null;
  };
  const answers = await answersTo(step, distinct, failed, run);
  if (step.join.paths) await joinInto(answers, step.join.paths, path, run, errors);
  for (const [i, { object, alias }] of slots.entries()) {
    const before = own(object as Record<string, unknown>, alias);
    put(object, alias, merged(before, answers[indexOf[i]!]));
  }
}

/** Merges parts of one field that fragments on an interface and on an object of it select. */
function merged(one: unknown, other: unknown): unknown {
  if (Array.isArray(one) && Array.isArray(other)) return one.map((item, i) => merged(item, other[i]));
  if (!isRecord(one) || !isRecord(other)) return one ?? other;
  const object = { ...one };
  for (const [name, member] of Object.entries(other)) put(object, name, merged(own(object, name), member));
  return object;
}

/** Sets a member. `__proto__` is a name like any other; assignment is used for the rest because it is twice as fast. */
function put(object: object, name: string, value: unknown): void {
  if (name !== '__proto__') (object as Record<string, unknown>)[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

/** Returns an answer for each key. `failed` reports a failure of a nullable field; any other failure is raised. */
async function answersTo(
  step: KeyedStep,
  keys: readonly Key[],
  failed: (error: unknown) => null,
  run: RunContext,
): Promise<readonly unknown[]> {
  const nulls = keys.map(() => null);
  if (step.kind === 'rows') {
    const { member, isNullable } = step.join;
    const reading = readByKeys(step.rows, [keys], run).then(([json]) => {
      const rows = parseJson(json!) as readonly Readonly<Record<string, unknown>>[];
      return rows.map((row) => row[member]);
    });
    return isNullable ? reading.catch((error: unknown) => failed(error) ?? nulls) : reading;
  }
  // A key with a null has no answer.
  const complete = keys.filter((key) => !key.includes(null));
  if (complete.length === 0) return nulls;
  const { planned, session, outbound } = run;
  const origin = { session, outbound, timeLimitMs: planned.plan.timeLimitMs };
  const found = await requestByKeys(step.join, complete, planned.variables.values, origin).catch(failed);
  if (!found) return nulls;
  if (found.error) failed(found.error);
  const answers = found.answers.values();
  return keys.map((key) => (key.includes(null) ? null : answers.next().value));
}
