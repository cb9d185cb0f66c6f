/** What belongs to each of many keys, asked of a remote schema in one request: the root field once for each key, as `f0`, `f1`
 *  and so on, with the key's values in variables. Raises `remoteErrors` with what it answers, and what asking raises.
 *  Not here: which keys (remote-join.ts). Reference: docs/reference/behaviour/remote-schemas.md. */

import { EngineError, fail } from '../errors/engine-error.ts';
import { parseJson } from '../json/parse-json.ts';
import { isRecord } from '../json/value.ts';
import { own } from '../metadata/own.ts';
import { literalValue } from '../plan/literal.ts';
import type { FilledArgument, JoinStep, RemoteSchemaJoin, TypeNamePlaces } from '../plan/remote-types.ts';
import { postToRemote } from '../remote/http.ts';
import { valuesOf } from '../remote/request.ts';
import { typeNameOf } from '../resolve/remote-names.ts';
import { withPresets } from '../resolve/remote-preset.ts';
import type { RemoteNames, StepValue } from '../resolve/types.ts';
import type { CallContext } from './calls.ts';
import type { PlannedRequest } from './plan-cache.ts';

type Key = readonly unknown[];

/** In the order of the keys; an error stands where one is not what it should be. */
export async function askForKeys(
  join: RemoteSchemaJoin,
  keys: readonly Key[],
  { plan, variables }: PlannedRequest,
  { session, outbound }: CallContext,
): Promise<readonly (unknown | EngineError)[]> {
  const { remote } = join;
  const given = { ...variables.values };
  const document = new KeyedDocument(join, (argument, key) => {
    const own = filled(argument.value, key);
    const client = argument.given ? literalValue(argument.given, (name) => given[name]) : undefined;
    const preset = withPresets(overlaid(client, own), argument.type, join.part, session);
    return overlaid(preset, own);
  });
  for (const [i, key] of keys.entries()) document.add(`f${i}`, key);
  const values = { ...valuesOf(join, given, session), ...document.values };
  const body = JSON.stringify({ query: document.text(), variables: values });
  const { timeLimitMs } = plan;
  const answer = await postToRemote(remote.endpoint, body, {
    session,
    outbound,
    timeLimitMs,
    isRepeatable: true,
    schema: remote.schema,
  });
  const { data, errors } = responseOf(answer.body.toString(), remote.endpoint.url, answer.status);
  if (errors.length > 0 && !(remote.prioritizesData && data)) {
    fail('remoteErrors', {}, { internal: { errors } });
  }
  const wrong = (reason: string) =>
    new EngineError('remoteAnswerInvalid', { url: remote.endpoint.url, reason });
  return keys.map((_, i) => {
    const alias = `f${i}`;
    if (data && !Object.hasOwn(data, alias)) return wrong(`its data has no "${alias}"`);
    const found = along(data?.[alias], join.steps.slice(1));
    if (!IS_SHAPED[join.shape](found)) return wrong(`"${alias}" is not of the type it should be`);
    if (join.typeNames) renameTypes(found, join.typeNames, remote.names);
    return found ?? null;
  });
}

const IS_SHAPED = {
  object: (found: unknown) => found === null || isRecord(found),
  list: (found: unknown) => found === null || Array.isArray(found),
  any: () => true,
} as const;

/** Raises `remoteAnswerInvalid`. */
function responseOf(text: string, url: string, status: number) {
  const refuse = (reason: string) =>
    fail('remoteAnswerInvalid', { url, reason: `${reason} (status ${status})` });
  let body: unknown;
  try {
    body = parseJson(text);
  } catch {
    return refuse('it is no JSON');
  }
  if (!isRecord(body)) return refuse('it is no object');
  const { data = null, errors = [] } = body;
  if (!Array.isArray(errors)) return refuse('its errors are none');
  if (data !== null && !isRecord(data)) return refuse('its data is no object');
  if (data === null && errors.length === 0) return refuse('there is no data');
  return { data, errors };
}

/** The document, a root field at a time. */
class KeyedDocument {
  readonly values: Record<string, unknown> = {};
  readonly #join: RemoteSchemaJoin;
  readonly #make: (argument: FilledArgument, key: Key) => unknown;
  readonly #definitions: string[];
  readonly #fields: string[] = [];
  #count = 0;

  constructor(join: RemoteSchemaJoin, make: (argument: FilledArgument, key: Key) => unknown) {
    this.#join = join;
    this.#make = make;
    this.#definitions = [...join.definitions];
  }

  add(alias: string, key: Key): void {
    const { steps, selection } = this.#join;
    const fields = steps.map((step) => `${step.field}${this.#arguments(step, key)}`);
    this.#fields.push(`${alias}:${fields.join('{')}${selection}${'}'.repeat(steps.length - 1)}`);
  }

  text(): string {
    const definitions = this.#definitions.length > 0 ? `(${this.#definitions.join(',')})` : '';
    return `query${definitions}{${this.#fields.join(' ')}}`;
  }

  #arguments({ fixed, filled: own }: JoinStep, key: Key): string {
    const made = own.map((argument) => {
      const name = `${this.#join.prefix}${this.#count++}`;
      this.values[name] = this.#make(argument, key);
      this.#definitions.push(`$${name}:${argument.type}`);
      return `${argument.name}:$${name}`;
    });
    const all = [...fixed, ...made];
    return all.length > 0 ? `(${all.join(',')})` : '';
  }
}

function filled(value: StepValue, key: Key): unknown {
  switch (value.kind) {
    case 'literal':
      return value.value;
    case 'key':
      return key[value.place];
    case 'list':
      return value.items.map((item) => filled(item, key));
    case 'object':
      return Object.fromEntries([...value.fields].map(([name, item]) => [name, filled(item, key)]));
    default:
      return value satisfies never;
  }
}

/** Both objects in one; anything else takes the place of what is there. */
function overlaid(below: unknown, above: unknown): unknown {
  if (!isRecord(below) || !isRecord(above)) return above;
  const members = Object.entries(above).map(([name, value]) => {
    return [name, Object.hasOwn(below, name) ? overlaid(below[name], value) : value];
  });
  return { ...below, ...Object.fromEntries(members) };
}

function along(found: unknown, steps: readonly JoinStep[]): unknown {
  return steps.reduce((value, { field }) => (isRecord(value) ? (own(value, field) ?? null) : null), found);
}

/** Names of types that are called otherwise here. */
function renameTypes(value: unknown, places: TypeNamePlaces, names: RemoteNames): void {
  if (Array.isArray(value)) for (const item of value) renameTypes(item, places, names);
  if (!isRecord(value)) return;
  const object = value as Record<string, unknown>;
  for (const [alias, member] of Object.entries(object)) {
    const inner = places.inner.get(alias);
    if (inner) renameTypes(member, inner, names);
    else if (places.own.has(alias) && typeof member === 'string') object[alias] = typeNameOf(names, member);
  }
}
