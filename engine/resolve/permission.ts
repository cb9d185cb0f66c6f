/** One permission of a role on a table: columns checked, `*` replaced by the columns, conditions and presets resolved.
 *  In: the permission in the metadata. Out: one part of TableAccess. Raises an ERRORS row with the path from the permission inwards
 *  (`permission.filter.name._eq`).
 *  Not here: the grammar of conditions (bool-exp.ts), the administrator's access (access.ts). Spec: "Permission arguments". */
import { fail, withSteps } from '../errors/engine-error.ts';
import { each, together } from '../errors/together.ts';
import { siblingReferences } from '../metadata/references.ts';
import { type Columns, printQualified } from '../metadata/schema/common.ts';
import { timerSeconds } from '../metadata/schema/number.ts';
import type {
  DeleteRule,
  InsertRule,
  SelectRule,
  UpdateRule,
  ValidateInput,
} from '../metadata/schema/permission.ts';
import { ALL_CELLS } from './access.ts';
import { type BoolExpScope, resolveBoolExp } from './bool-exp.ts';
import { checkEnumValue } from './enum.ts';
import type { Lookup } from './memo.ts';
import { noColumn } from './misnamed.ts';
import type { DeleteAccess, InsertAccess, SelectAccess, UpdateAccess } from './model/access.ts';
import type { ResolvedColumn } from './model/column.ts';
import type { ResolvedTable } from './model/table.ts';
import type { InputValidation } from './model/webhook.ts';
import { type Leaf, type Predicate, TRUE } from './predicate.ts';
import { leafOf } from './value.ts';

/** The table of a permission, and the tables that its conditions may reach. */
export type PermissionScope = {
  readonly table: ResolvedTable;
  readonly tables: Lookup<ResolvedTable>;
  /** Sets of columns of the table that roles share, by the list that names them. */
  readonly columnSets: Map<string, ReadonlySet<string>>;
} & Pick<BoolExpScope, 'remote' | 'everywhere' | 'prefix'>;

export function resolveSelect(rule: SelectRule, scope: PermissionScope): SelectAccess {
  const [columns, computedFields, filter] = together(
    () => columnsOf(rule.columns, scope),
    () => computedFieldsOf(rule.computed_fields ?? [], scope),
    () => conditionOf('filter', rule.filter, scope),
  );
  return {
    columns,
    computedFields,
    cells: ALL_CELLS,
    filter,
    limit: rule.limit ?? null,
    allowsAggregation: rule.allow_aggregations ?? false,
    queryRootFields: rule.query_root_fields ? new Set(rule.query_root_fields) : null,
    subscriptionRootFields: rule.subscription_root_fields ? new Set(rule.subscription_root_fields) : null,
  };
}

/** Resolves an insert permission. Without `columns`, all columns may be given. */
export function resolveInsert(rule: InsertRule, scope: PermissionScope): InsertAccess {
  const [presets, columns, check, validation] = together(
    () => presetsOf(rule.set, scope),
    () => columnsOf(rule.columns ?? '*', scope),
    () => conditionOf('check', rule.check, scope),
    () => validationOf(rule),
  );
  return {
    columns: writableColumns(columns, scope, presets),
    check,
    presets,
    backendOnly: rule.backend_only ?? false,
    ...validation,
  };
}

export function resolveUpdate(rule: UpdateRule, scope: PermissionScope): UpdateAccess {
  const [presets, columns, filter, check, validation] = together(
    () => presetsOf(rule.set, scope),
    () => columnsOf(rule.columns, scope),
    () => conditionOf('filter', rule.filter, scope),
    () => conditionOf('check', rule.check ?? null, scope),
    () => validationOf(rule),
  );
  const { columnByName } = scope.table;
  const fixed = [...presets.keys()].find((name) => columnByName.get(name)!.isFixed);
  if (fixed !== undefined) {
    const text = `column "${fixed}" cannot be updated because the table is distributed by it. Use it in the check instead`;
    fail('distributionUnsupported', { text }, { path: ['permission', 'set', fixed] });
  }
  const writable = writableColumns(columns, scope, presets);
  return {
    columns: new Set([...writable].filter((name) => !columnByName.get(name)!.isFixed)),
    filter,
    check,
    presets,
    backendOnly: rule.backend_only ?? false,
    ...validation,
  };
}

export function resolveDelete(rule: DeleteRule, scope: PermissionScope): DeleteAccess {
  const [filter, validation] = together(
    () => conditionOf('filter', rule.filter, scope),
    () => validationOf(rule),
  );
  return { filter, backendOnly: rule.backend_only ?? false, ...validation };
}

/** Resolves a condition. The check of an update may be null and then restricts nothing. */
function conditionOf(key: string, value: unknown, scope: PermissionScope): Predicate {
  if (value === null) return TRUE;
  return withSteps(['permission', key], () => resolveBoolExp(value, { ...scope, root: scope.table }));
}

/** Returns the listed columns, which must exist, in the order of the table. Those GraphQL cannot name are left out. Roles with
 *  equal lists share one set. */
function columnsOf(columns: Columns, { table, columnSets }: PermissionScope): ReadonlySet<string> {
  // No name holds a zero byte (metadata/parse.ts).
  const key = columns === '*' ? columns : `\0${columns.join('\0')}`;
  const names = columnSets.get(key) ?? columnsIn(columns, table);
  columnSets.set(key, names);
  return names;
}

function columnsIn(columns: Columns, table: ResolvedTable): ReadonlySet<string> {
  const listed = columns === '*' ? null : new Set(columns);
  each([...(listed ?? [])], (name) => {
    if (!table.columnByName.has(name))
      noColumn(name, table, ['permission', 'columns', columns.indexOf(name)]);
  });
  const names = table.columns.map(({ name }) => name);
  return new Set(listed === null ? names : names.filter((name) => listed.has(name)));
}

/** Returns the columns without generated columns and columns with a preset, which clients cannot write. */
function writableColumns(
  columns: ReadonlySet<string>,
  scope: PermissionScope,
  presets: ReadonlyMap<string, Leaf>,
): ReadonlySet<string> {
  const isAllowed = (name: string) => scope.table.columnByName.get(name)!.isWritable && !presets.has(name);
  return new Set([...columns].filter(isAllowed));
}

function presetsOf(
  set: Readonly<Record<string, unknown>> | undefined,
  { table, prefix }: PermissionScope,
): ReadonlyMap<string, Leaf> {
  return new Map(
    each(Object.entries(set ?? {}), ([name, value]) => {
      const path = ['permission', 'set', name];
      const column = table.columnByName.get(name);
      if (!column) return noColumn(name, table, path);
      if (!column.isWritable) {
        return fail('notSupported', { text: `column "${name}" cannot be written` }, { path });
      }
      return [name, withSteps(path, () => presetOf(value, column, prefix))] as const;
    }),
  );
}

function presetOf(value: unknown, column: ResolvedColumn, prefix?: string): Leaf {
  checkEnumValue(column, value, prefix);
  return leafOf(value, column.type, prefix);
}

/** Returns the scalar computed fields that a role may read. Computed fields that return rows follow the permission of their table. */
function computedFieldsOf(names: readonly string[], { table }: PermissionScope): ReadonlySet<string> {
  each(names, (name, i) => {
    const path = ['permission', 'computed_fields', i];
    const misnamed = { name, known: () => table.computedFields.keys() };
    const field =
      table.computedFields.get(name) ?? fail('computedFieldNotExists', { name }, { path, misnamed });
    if (field.returns.kind === 'rows') {
      const text =
        `select permissions on computed field "${name}" are auto-derived from the permissions on its ` +
        `returning table "${printQualified(field.returns.table)}" and cannot be specified manually`;
      fail('invalidConfiguration', { text }, { path });
    }
  });
  return new Set(names);
}

/** Returns the input validation of a permission. Raises `parseFailed` unless each header has exactly one of its values: a stored document
 *  may be older than the rule of the schema. */
function validationOf({ validate_input: configured }: { readonly validate_input?: ValidateInput }): {
  readonly validation?: InputValidation;
} {
  if (!configured) return {};
  const { url, headers = [], forward_client_headers, timeout } = configured.definition;
  headers.forEach((header, i) => {
    const given = (header.value === undefined ? 0 : 1) + siblingReferences(header, 'value').length;
    if (given === 1) return;
    const text = `header "${header.name}" needs either value or value_from_env`;
    fail('parseFailed', { text }, { path: ['permission', 'validate_input', 'definition', 'headers', i] });
  });
  return {
    validation: {
      url,
      headers,
      forwardsClientHeaders: forward_client_headers ?? false,
      timeoutSeconds: timerSeconds(timeout ?? 10),
    },
  };
}
