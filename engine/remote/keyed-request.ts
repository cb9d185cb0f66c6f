/** Requests what belongs to each of many keys from a remote schema, in one request. The document has the root field once for each
 *  key, as `f0`, `f1` and so on, with the key's values in variables. Raises `remoteErrors` with the errors of the answer, and what
 *  the request raises. Not here: the keys (execute/join.ts). Reference: docs/reference/behaviour/remote-schemas.md. */

import { type EngineError, fail } from '../errors/engine-error.ts';
import { parseJson } from '../json/parse-json.ts';
import { isRecord } from '../json/value.ts';
import { literalValue, type Variables } from '../plan/literal.ts';
import type { FilledArgument, JoinStep, RemoteSchemaJoin } from '../plan/remote-types.ts';
import type { StepValue } from '../resolve/model/remote-step.ts';
import { presetValue, withPresets } from '../resolve/remote-preset.ts';
import { readAnswer, WrongField } from './answer.ts';
import { postToRemote, type RequestOrigin } from './http.ts';
import { valuesOf } from './request.ts';

export type Key = readonly unknown[];

/** Returns an answer for each key, in their order, and the first error of a value that is not of its type. */
export async function requestByKeys(
  join: RemoteSchemaJoin,
  keys: readonly Key[],
  given: Variables,
  origin: Omit<RequestOrigin, 'isRepeatable' | 'schema'>,
): Promise<{ readonly answers: readonly unknown[]; readonly error: EngineError | undefined }> {
  const { remote, part, shape } = join;
  const { session } = origin;
  const document = new KeyedDocument(join, (argument, key) => {
    const own = filled(argument.value, key);
    const client = argument.given ? literalValue(argument.given, (name) => given[name]) : undefined;
    const withInner = withPresets(overlaid(client, own), argument.type, { schema: part, session });
    const { preset } = argument;
    const base = preset ? overlaid(withInner, presetValue(preset, part, session)) : withInner;
    // The relationship sets its parts of an object; the other parts of a preset restrict the role and stay.
    return overlaid(base, own);
  });
  const within = join.steps.slice(1).map(({ field }) => field);
  const fields = keys.map((key, i) => {
    const alias = `f${i}`;
    document.add(alias, key);
    return { path: [alias], within, shape, isNullable: true };
  });
  const values = { ...valuesOf(join, given, session), ...document.values };
  const body = JSON.stringify({ query: document.text(), variables: values });
  const { endpoint, schema } = remote;
  const response = await postToRemote(endpoint, body, {
    ...origin,
    isRepeatable: true,
    isParsed: true,
    schema,
  });
  const answer = readAnswer(response, fields, remote);
  if (answer.errors.length > 0 && !(remote.prioritizesData && answer.hasData)) {
    fail('remoteErrors', {}, { internal: { errors: answer.errors } });
  }
  let error: EngineError | undefined;
  const answers = answer.fields.map((field) => {
    if (field instanceof WrongField) error ??= field.error;
    return parseJson((field instanceof WrongField ? (field.piece ?? 'null') : field).toString());
  });
  return { answers, error };
}

/** Builds the document, one root field at a time. */
class KeyedDocument {
  readonly values: Record<string, unknown> = {};
  readonly #join: RemoteSchemaJoin;
  readonly #argumentValue: (argument: FilledArgument, key: Key) => unknown;
  readonly #definitions: string[];
  readonly #fields: string[] = [];
  #count = 0;

  constructor(join: RemoteSchemaJoin, argumentValue: (argument: FilledArgument, key: Key) => unknown) {
    this.#join = join;
    this.#argumentValue = argumentValue;
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

  #arguments({ fixed, filled: perKey }: JoinStep, key: Key): string {
    const keyed = perKey.map((argument) => {
      const name = `${this.#join.prefix}${this.#count++}`;
      this.values[name] = this.#argumentValue(argument, key);
      this.#definitions.push(`$${name}:${argument.type}`);
      return `${argument.name}:$${name}`;
    });
    const all = [...fixed, ...keyed];
    return all.length > 0 ? `(${all.join(',')})` : '';
  }
}

function filled(value: StepValue, key: Key): unknown {
  switch (value.kind) {
    case 'literal':
      return value.value;
    case 'key':
      return key[value.index];
    case 'list':
      return value.items.map((item) => filled(item, key));
    case 'object':
      return Object.fromEntries([...value.fields].map(([name, item]) => [name, filled(item, key)]));
    default:
      return value satisfies never;
  }
}

/** Merges two objects. Anything else replaces what is there. */
function overlaid(below: unknown, above: unknown): unknown {
  if (!isRecord(below) || !isRecord(above)) return above;
  const members = Object.entries(above).map(([name, value]) => {
    return [name, Object.hasOwn(below, name) ? overlaid(below[name], value) : value];
  });
  return { ...below, ...Object.fromEntries(members) };
}
