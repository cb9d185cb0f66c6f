/** Changes of objects that permissions depend on without naming their content: native queries that return the logical model of a permission,
 *  functions that a role may call, and the relationships and computed fields in filters. The permission stays the same, and its role reaches
 *  other rows.
 *  In: the keys of changed objects, the objects before and after. Out: the parts that differ for a permission. Pure.
 *  Not here: comparing two definitions of one permission (access-change.ts), finding fields in filters (used-fields.ts). */
import { isRecord, isSameJson, type JsonRecord } from '../../json/value.ts';
import { objectKey, parentKeyOf, parseKey } from '../objects.ts';
import type { AccessPart, AccessVerdict } from './compare-filters.ts';
import type { Objects } from './inherited-access.ts';
import { changedFields, type FieldUse } from './used-fields.ts';

/** A part of a permission that differs by the change of other objects. */
export type UsedChange = { readonly part: AccessPart; readonly causes: readonly string[] };

export type UsedChanges = {
  /** Returns the parts that differ for a permission, whose own definitions before and after are given. */
  readonly of: (key: string, before: unknown, after: unknown) => readonly UsedChange[];
  /** Returns the causes for each permission before and after that such a part differs for. */
  readonly byPermission: () => ReadonlyMap<string, readonly string[]>;
};

/** Returns what the changed objects mean for the permissions that use them. */
export function usedChanges(changed: readonly string[], before: Objects, after: Objects): UsedChanges {
  // By the key of the object that the permissions are nested in.
  const byParent = new Map<string, UsedChange[]>();
  const add = (parent: string, part: AccessPart, cause: string) => {
    byParent.set(parent, [...(byParent.get(parent) ?? []), { part, causes: [cause] }]);
  };
  for (const key of changed) {
    const [old, next] = [before, after].map((objects) => objects.get(key)?.definition);
    for (const [parent, part] of queryParts(key, old, next)) add(parent, part, key);
    for (const part of functionParts(key, old, next)) add(key, part, key);
  }
  const fields = changedFields(changed, before, after);
  const ofFields = (key: string, old: unknown, next: unknown) =>
    fields.isEmpty ? [] : fieldParts(key, [rulesOf(old), rulesOf(next)], { fields, before, after });
  const of: UsedChanges['of'] = (key, old, next) => {
    if (old === undefined || next === undefined) return [];
    return [...(byParent.get(parentKeyOf(key) ?? '') ?? []), ...ofFields(key, old, next)];
  };
  const byPermission = () => {
    if (byParent.size === 0 && fields.isEmpty) return new Map();
    return new Map(
      [...after].flatMap(([key, { definition }]) => {
        if (!PERMISSION.test(key)) return [];
        const causes = of(key, before.get(key)?.definition, definition).flatMap((one) => one.causes);
        return causes.length > 0 ? [[key, causes] as const] : [];
      }),
    );
  };
  return { of, byPermission };
}

const PERMISSION = /^[a-z_]+_permission\//;

/** Returns the parts for the roles that read the logical model of a native query, by the key of the model. */
function queryParts(
  key: string,
  before: unknown,
  after: unknown,
): readonly (readonly [model: string, part: AccessPart])[] {
  const identity = parseKey(key);
  if (identity?.kind !== 'native_query') return [];
  const [source, name] = identity.segments as [string, string];
  const modelOf = (query: unknown) =>
    isRecord(query) ? objectKey('logical_model', source, String(query['returns'])) : undefined;
  const [old, next] = [modelOf(before), modelOf(after)];
  const query = `the native query ${name}`;
  if (old !== undefined && old === next) {
    const isSame = isSameJson(meaningOfQuery(before as JsonRecord), meaningOfQuery(after as JsonRecord));
    return isSame ? [] : [[next, noted('code', 'other', `${query} has another text or other arguments`)]];
  }
  const isMoved = old !== undefined && next !== undefined;
  const gained = isMoved
    ? noted('code', 'other', `${query} returns it now`)
    : ({ name: 'native_queries', verdict: 'wider', before: 'none', after: name } as const);
  const lost = { name: 'native_queries', verdict: 'narrower', before: name, after: 'none' } as const;
  return [
    ...(old === undefined ? [] : [[old, lost] as const]),
    ...(next === undefined ? [] : [[next, gained] as const]),
  ];
}

function meaningOfQuery({ code, arguments: given }: JsonRecord): unknown {
  const all = Object.entries(isRecord(given) ? given : {}).map(([name, argument]) => {
    const { type, nullable = false } = isRecord(argument) ? argument : {};
    return [name, { type, nullable }];
  });
  return { code: String(code).trim(), arguments: Object.fromEntries(all) };
}

/** The fields of a function's configuration that decide how it runs, with the value of those that are absent. */
const FUNCTION_FIELDS: Readonly<Record<string, (configuration: JsonRecord) => string>> = {
  session_argument: ({ session_argument: name }) => String(name ?? 'none'),
  response: ({ response }) => tableOf(response),
  exposed_as: ({ exposed_as: type }) => String(type ?? 'by its volatility'),
};

/** Returns the parts for the roles that may call a function. */
export function functionParts(key: string, before: unknown, after: unknown): readonly AccessPart[] {
  if (!key.startsWith('function/') || !isRecord(before) || !isRecord(after)) return [];
  const [old, next] = [before, after].map(({ configuration }) =>
    isRecord(configuration) ? configuration : {},
  ) as [JsonRecord, JsonRecord];
  return Object.entries(FUNCTION_FIELDS).flatMap(([name, words]) => {
    const [was, is] = [words(old), words(next)];
    return was === is ? [] : [{ name, verdict: 'other', before: was, after: is } as const];
  });
}

/** Returns the table that is declared for the rows of a function. */
function tableOf(response: unknown): string {
  const { type, table } = isRecord(response) ? response : {};
  if (type !== 'table' || !isRecord(table)) return 'inferred';
  return `${table['schema'] ?? 'public'}.${table['name']}`;
}

/** The parts of permissions that are conditions. */
const CONDITIONS = ['filter', 'check'] as const;

type Fields = {
  readonly fields: ReturnType<typeof changedFields>;
  readonly before: Objects;
  readonly after: Objects;
};

/** Returns the parts of a permission that use changed fields before and after. A condition that uses such a field only before or only after has
 *  another text, and the comparison of the texts presumes nothing about it. */
function fieldParts(
  key: string,
  [old, next]: readonly [JsonRecord, JsonRecord],
  { fields, before, after }: Fields,
): readonly UsedChange[] {
  const { kind, segments } = parseKey(key)!;
  if (!isRuleOfRows(kind)) return [];
  const [source = '', schema = '', name = ''] = segments;
  const table = kind === 'logical_model_permission' ? null : { schema, name };
  const conditions = CONDITIONS.flatMap((part) => {
    const was = fields.usedIn(old[part], table, source, before);
    const is = new Set(fields.usedIn(next[part], table, source, after).map(({ field }) => field));
    const uses = was.filter(({ field }) => is.has(field));
    return uses.map((use) => ({ part: usePart(part, use, table), causes: use.field.causes }));
  });
  if (!table) return conditions;
  const values = listOf(old['computed_fields'])
    .filter((one) => listOf(next['computed_fields']).includes(one))
    .flatMap((one) => fields.find(source, table, String(one)) ?? []);
  return [
    ...conditions,
    ...values.map((field) => ({
      part: noted('computed_fields', 'other', `${field.noun} ${field.effect}`),
      causes: field.causes,
    })),
  ];
}

function isRuleOfRows(kind: string): boolean {
  return /^(select|insert|update|delete|logical_model)_permission$/.test(kind);
}

function usePart(
  name: string,
  { field, isCertain }: FieldUse,
  table: { readonly schema: string; readonly name: string } | null,
): AccessPart {
  const isNamed = field.table !== null && !isSameJson(field.table, table);
  const of = isNamed ? ` of ${field.table.schema}.${field.table.name}` : '';
  return noted(name, 'other', `${field.noun}${of} that it ${isCertain ? 'uses' : 'may use'} ${field.effect}`);
}

/** Returns a part whose value is the same and means something else, with the reason. */
function noted(name: string, verdict: AccessVerdict, reason: string): AccessPart {
  return { name, verdict, before: null, after: reason };
}

/** Returns the rules of the definition of a permission. */
function rulesOf(definition: unknown): JsonRecord {
  const rules = isRecord(definition) ? definition['permission'] : undefined;
  return isRecord(rules) ? rules : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
