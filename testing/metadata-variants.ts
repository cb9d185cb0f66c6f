/** Metadata documents for tests, generated from the declared model: one with every optional member, and variants of it that change one member
 *  each. Not here: what a test expects of them. */
import { isRecord, type JsonRecord } from '../engine/json/value.ts';
import { DEFAULTS } from '../engine/metadata/normal-form.ts';
import { CHOICE_MARK } from '../engine/metadata/schema/common.ts';
import { Metadata } from '../engine/metadata/schema/metadata.ts';
import { asJsonSchema, type JsonSchema } from '../engine/metadata/walk-schema.ts';

/** Values of members that a schema alone does not make valid. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  name: 'a',
  code: 'select 1',
  schedule: '* * * * *',
  role_set: ['b'],
  template: '{{$.default}}',
  database_url: { from_env: 'ENGINE_GRAPHQL_DATABASE_URL' },
  ssl_configuration: { sslmode: 'prefer' },
  foreign_key_constraint_on: { table: { schema: 'public', name: 'b' }, columns: ['a', 'b'] },
  cleanup_config: { schedule: '* * * * *', clear_older_than: 1 },
};

/** Returns a value that fits the schema, with a sample of each optional member. */
function sampleOf(schema: JsonSchema, key = ''): unknown {
  if (SAMPLES[key] !== undefined) return SAMPLES[key];
  if (schema.const !== undefined) return schema.const;
  if (schema.anyOf) return sampleOf(schema.anyOf.find(({ type }) => type !== 'null')!);
  if (schema.items) return [sampleOf(schema.items)];
  if (schema.patternProperties) return { a: sampleOf(Object.values(schema.patternProperties)[0]!) };
  if (schema.properties) {
    const choice = schema[CHOICE_MARK]?.slice(1) ?? [];
    const members = Object.entries(schema.properties)
      .filter(([name]) => !choice.includes(name))
      .slice(0, schema.maxProperties);
    return Object.fromEntries(members.map(([name, member]) => [name, sampleOf(member, name)]));
  }
  const byType: Record<string, unknown> = {
    // The only other pattern is that of an absolute path.
    string: schema.pattern?.startsWith('^/') ? '/a' : 'a',
    boolean: true,
    integer: schema.minimum ?? 1,
    number: 1,
    object: {},
  };
  return schema.type === undefined ? { any: [1] } : byType[schema.type];
}

/** A change of one member. `null`, `absent`, `empty`, `default` and `chosen` say what the member is instead; `branch` is another form of it. */
export type Variant = {
  readonly path: readonly (string | number)[];
  readonly kind: string;
  readonly value: unknown;
};

const ABSENT = Symbol('absent');

/** Returns other values of each optional member within the value, with the path of the member. */
function* variantsOf(schema: JsonSchema, value: unknown, path: Variant['path'] = []): Generator<Variant> {
  if (schema.anyOf) {
    const [branch, ...others] = schema.anyOf.filter(({ type }) => type !== 'null');
    yield* variantsOf(branch!, value, path);
    for (const other of others) {
      const sample = sampleOf(other);
      yield { path, kind: 'branch', value: sample };
      for (const inner of variantsOf(other, sample, path)) {
        if (inner.kind === 'branch') continue;
        yield { path, kind: 'branch', value: replaced(sample, inner.path.slice(path.length), inner.value) };
      }
    }
  } else if (schema.items && Array.isArray(value)) {
    yield* variantsOf(schema.items, value[0], [...path, 0]);
  } else if (schema.patternProperties && isRecord(value)) {
    yield* variantsOf(Object.values(schema.patternProperties)[0]!, value['a'], [...path, 'a']);
  } else if (schema.properties && isRecord(value)) {
    const defaults = DEFAULTS.get(schema.properties) ?? {};
    for (const [key, member] of Object.entries(schema.properties)) {
      if (value[key] === undefined) continue;
      const at = [...path, key];
      if (schema[CHOICE_MARK]?.includes(key)) {
        yield* choicesOf(schema, value, path);
        continue;
      }
      if (!schema.required?.includes(key) && schema.minProperties === undefined) {
        yield { path: at, kind: 'null', value: null };
        yield { path: at, kind: 'absent', value: ABSENT };
        if (member.type === 'array') yield { path: at, kind: 'empty', value: [] };
        if (member.patternProperties) yield { path: at, kind: 'empty', value: {} };
        if (member.properties && !member.required) yield { path: at, kind: 'empty', value: {} };
        if (key in defaults) yield { path: at, kind: 'default', value: defaults[key] };
      }
      yield* variantsOf(member, value[key], at);
    }
  }
}

/** Returns the object with each other member of those of which it has exactly one. */
function* choicesOf(schema: JsonSchema, value: JsonRecord, path: Variant['path']): Generator<Variant> {
  const [first = '', ...others] = schema[CHOICE_MARK] ?? [];
  const { [first]: _, ...rest } = value;
  for (const name of others) {
    yield { path, kind: 'chosen', value: { ...rest, [name]: sampleOf(schema.properties![name]!, name) } };
  }
}

/** Returns the value with another one at the path. */
export function replaced(value: unknown, [key, ...rest]: Variant['path'], by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value)) return value.map((item, i) => (i === key ? replaced(item, rest, by) : item));
  const { [key]: old, ...others } = value as JsonRecord;
  const next = replaced(old, rest, by);
  return next === ABSENT ? others : { ...others, [key]: next };
}

const SCHEMA = asJsonSchema(Metadata);
/** A document with every optional member. */
export const FULL = ['scalars', 'enums', 'input_objects', 'objects'].reduce<unknown>(
  (made, category) => replaced(made, ['custom_types', category, 0, 'name'], category),
  sampleOf(SCHEMA),
);
export const VARIANTS: readonly Variant[] = [...variantsOf(SCHEMA, FULL)];
