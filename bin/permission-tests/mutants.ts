/** Permissions that are a little wider than the declared ones: without one of their restrictions, or with one column or field more.
 *  A good test fails when such a permission is served instead. In: a permission and its table. Out: Mutants.
 *  Pure. Not here: serving them (mutate.ts); validation of input, whose webhook no test calls. */
import type { Api, Permission } from '../../engine/admin/test-coverage/coverage.ts';
import { isRecord } from '../../engine/json/value.ts';
import type { ResolvedTable } from '../../engine/resolve/model/table.ts';

export type Mutant = {
  readonly permission: Permission;
  /** The change: `without its filter`. */
  readonly change: string;
  /** The definition of the permission with the change. */
  readonly definition: unknown;
};

/** The rule of a permission, as far as it is changed here. */
type Rule = {
  readonly columns?: readonly string[] | '*';
  readonly computed_fields?: readonly string[];
  readonly filter?: unknown;
  readonly check?: unknown;
  readonly set?: Readonly<Record<string, unknown>> | null;
  readonly limit?: number | null;
  readonly allow_aggregations?: boolean;
  readonly query_root_fields?: readonly string[] | null;
  readonly subscription_root_fields?: readonly string[] | null;
  readonly backend_only?: boolean;
};

type Change = { readonly change: string; readonly rule: Rule };

/** Returns the mutants of every permission, in the order of the permissions. */
export function mutantsOf({ permissions, model }: Api): readonly Mutant[] {
  const tables = [...model.sources.values()].flatMap((source) => [...source.tables.values()]);
  return permissions.flatMap((permission) => {
    const table = tables.find((each) => isTableOf(permission, each));
    const definition = permission.object.definition as { readonly permission: Rule };
    const { permission: rule } = definition;
    return [
      ...withoutConditions(rule),
      ...withColumn(rule, permission, table),
      ...withComputedField(rule, permission, table),
      ...withoutPreset(rule),
      ...more(rule, permission),
    ].map(({ change, rule: changed }) => ({
      permission,
      change,
      definition: { ...definition, permission: changed },
    }));
  });
}

function isTableOf(permission: Permission, { source, table }: ResolvedTable): boolean {
  const { schema, name } = permission.table;
  return source === permission.source && table.schema === schema && table.name === name;
}

/** A condition that allows every row, `{}`, is not a restriction. */
function withoutConditions(rule: Rule): readonly Change[] {
  return (['filter', 'check'] as const)
    .filter((name) => isRecord(rule[name]) && Object.keys(rule[name]).length > 0)
    .map((name) => ({
      change: `without its ${name} ${JSON.stringify(rule[name])}`,
      rule: { ...rule, [name]: {} },
    }));
}

/** Returns a change for each column that the permission does not have. A column with a preset cannot be written by clients anyway. */
function withColumn(
  rule: Rule,
  { operation }: Permission,
  table: ResolvedTable | undefined,
): readonly Change[] {
  const { columns, set } = rule;
  if (!Array.isArray(columns) || table === undefined) return [];
  return table.columns
    .filter(({ name, isWritable }) => {
      if (columns.includes(name)) return false;
      return operation === 'select' || (isWritable && !Object.hasOwn(set ?? {}, name));
    })
    .map(({ name }) => ({
      change: `with the column ${name}`,
      rule: { ...rule, columns: [...columns, name] },
    }));
}

/** Returns a change for each scalar computed field that the permission does not list. Those that return rows need a permission on the table
 *  of the rows only. */
function withComputedField(
  rule: Rule,
  { operation }: Permission,
  table: ResolvedTable | undefined,
): readonly Change[] {
  const { computed_fields: listed = [] } = rule;
  if (operation !== 'select' || table === undefined) return [];
  return [...table.computedFields.values()]
    .filter(({ name, returns }) => returns.kind === 'scalar' && !listed.includes(name))
    .map(({ name }) => ({
      change: `with the computed field ${name}`,
      rule: { ...rule, computed_fields: [...listed, name] },
    }));
}

/** Returns a change for each preset: clients may set the column instead. */
function withoutPreset(rule: Rule): readonly Change[] {
  const { columns, set } = rule;
  return Object.keys(set ?? {}).map((name) => {
    const { [name]: _, ...kept } = set ?? {};
    const writable = Array.isArray(columns) ? { columns: [...new Set([...columns, name])] } : {};
    return { change: `without its preset of ${name}`, rule: { ...rule, ...writable, set: kept } };
  });
}

/** Returns the settings that let clients aggregate, also at the root: elsewhere it may make no difference. */
function aggregations({ query_root_fields: fields }: Rule): Partial<Rule> {
  return {
    allow_aggregations: true,
    ...(fields ? { query_root_fields: [...new Set([...fields, 'select_aggregate'])] } : {}),
  };
}

function more(rule: Rule, { operation }: Permission): readonly Change[] {
  if (operation !== 'select') {
    if (rule.backend_only !== true) return [];
    return [{ change: 'without backendOnly', rule: { ...rule, backend_only: false } }];
  }
  const { limit, ...unlimited } = rule;
  const isLimited = rule.query_root_fields || rule.subscription_root_fields;
  return [
    ...(typeof limit === 'number' ? [{ change: `without its limit of ${limit} rows`, rule: unlimited }] : []),
    ...(rule.allow_aggregations === true
      ? []
      : [{ change: 'with aggregations', rule: { ...rule, ...aggregations(rule) } }]),
    ...(isLimited
      ? [
          {
            change: 'with every root field',
            rule: { ...rule, query_root_fields: null, subscription_root_fields: null },
          },
        ]
      : []),
  ];
}
