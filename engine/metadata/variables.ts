/** Environment variables, named values and files that metadata objects refer to, with their path in the object and their use.
 *  In: the kind and definition of an object. Out: every `from_env`, `from_value`, `from_file`, `…_from_env` and `{{NAME}}` in it, found
 *  by the marks of its schema (schema/common.ts), as reference texts: `NAME`, `value:NAME` or `file:PATH`. Also `isReserved`: the
 *  variables that no object may send to anyone. Pure.
 *  Not here: what a reference stands for (webhook/call.ts, database/sources.ts, values/named-values.ts). Reference: docs/reference/behaviour/metadata.md. */
import type { PathStep } from '../errors/engine-error.ts';
import { isRecord } from '../json/value.ts';
import { OBJECTS, type ObjectKind } from './objects.ts';
import { VARIABLE_MARK, type VariableMark } from './schema/common.ts';
import type { TSchema } from './schema/type.ts';
import { Marks, type MarkWalk, walkMarks } from './walk-marks.ts';
import { asJsonSchema } from './walk-schema.ts';

export type NamedVariable = Pick<VariableMark, 'use'> & {
  /** The reference text: the name of an environment variable, `value:NAME` or `file:PATH`. */
  readonly name: string;
  /** Steps from the definition to the text that names the variable. */
  readonly path: readonly PathStep[];
};

const TEMPLATE_VARIABLE = /\{\{\s*(.*?)\s*\}\}/g;

/** Returns the variables that an object names, in the order of its schema; `definition` is in normal form (parse.ts).
 *  Objects nested in the definition count too, so pass a bare fragment (`MetadataObject.definition`) for the object alone. */
export function variablesOf(kind: ObjectKind, definition: unknown): readonly NamedVariable[] {
  return variablesIn(OBJECTS[kind].schema, definition);
}

/** Returns the variables that a value of the schema names. */
export function variablesIn(schema: TSchema, value: unknown): readonly NamedVariable[] {
  if (!isRecord(value)) return collected(schema, value);
  const cached = found.get(value);
  if (cached?.schema === schema) return cached.variables;
  const variables = collected(schema, value);
  found.set(value, variables.length === 0 ? nothingIn(schema) : { schema, variables });
  return variables;
}

type Cached = { readonly schema: TSchema; readonly variables: readonly NamedVariable[] };

/** Cached by definition, because definitions are immutable. */
const found = new WeakMap<object, Cached>();

/** The results for values that name no variable. They are most of tens of thousands, and shared to save memory. */
const nothing = new WeakMap<TSchema, Cached>();

function nothingIn(schema: TSchema): Cached {
  const shared = nothing.get(schema) ?? { schema, variables: [] };
  nothing.set(schema, shared);
  return shared;
}

/** Returns the template with each `{{NAME}}` replaced by `lookup(NAME)`. */
export function fillTemplate(template: string, lookup: (name: string) => string): string {
  return template.replaceAll(TEMPLATE_VARIABLE, (_, name: string) => lookup(name));
}

/** Variables of the engine itself, of its chart and of libpq, and the names by which its secrets are also read. They may hold
 *  secrets, so no object may send them. */
const RESERVED = [
  /^ENGINE_/,
  /^HASURA_GRAPHQL_(ACCESS_KEY|ADMIN_SECRETS?|CONSOLE_SECRET|JWT_SECRETS?|METRICS_SECRET|OTLP_HEADERS|AUTH_HOOK|EE_LICENSE_KEY)$/,
  /^HASURA_GRAPHQL_((METADATA_)?DATABASE_URL|READ_REPLICA_URLS?|(RATE_LIMIT_)?REDIS_URL|VALUES_KEY(_FILE)?)$/,
  /^POSTGRES_PASSWORD$/,
  /^PG[A-Z]+$/,
];

/** True when no metadata object may send the variable to an external service, regardless of its author. */
export function isReserved(name: string): boolean {
  return RESERVED.some((pattern) => pattern.test(name));
}

/** The prefixes of the environment variables of options. Reference: docs/reference/behaviour/errors.md. */
const OPTION_PREFIXES = ['ENGINE_GRAPHQL_', 'HASURA_GRAPHQL_'];

/** Returns why a header may not have the variable's value; null when it is no option of the engine. */
export function refusedHeader({ name, path }: Pick<NamedVariable, 'name' | 'path'>): string | null {
  const prefix = OPTION_PREFIXES.find((known) => name.startsWith(known));
  if (path.at(-1) !== 'value_from_env' || prefix === undefined) return null;
  return `env variables starting with "${prefix}" are not allowed in value_from_env: ${name}`;
}

type Found = { readonly into: NamedVariable[]; readonly path: readonly PathStep[] };

const WALK: MarkWalk<VariableMark, Found> = {
  marks: new Marks(VARIABLE_MARK),
  step: ({ into, path }, key) => ({ into, path: [...path, key] }),
  visit: (mark, value, { into, path }) => {
    if (typeof value === 'string') {
      for (const name of referencesInText(mark, value)) into.push({ name, use: mark.use, path });
    }
    return value;
  },
};

function collected(schema: TSchema, value: unknown): readonly NamedVariable[] {
  const into: NamedVariable[] = [];
  walkMarks(asJsonSchema(schema), value, WALK, { into, path: [] });
  return into;
}

/** Returns the reference texts in a text of the schema. */
export function referencesInText({ form }: Pick<VariableMark, 'form'>, text: string): readonly string[] {
  if (form === 'template') return [...text.matchAll(TEMPLATE_VARIABLE)].map(([, name]) => name ?? '');
  return form === 'name' ? [text] : [`${form}:${text}`];
}
