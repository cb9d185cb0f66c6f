/** TablePermission: the permissions of one role on one table. A Table has the same rules inline, keyed by role. Each operation is a
 *  separate object, so two resources conflict only on the same one.
 *  Not here: the validation of input (validate-input.ts). */
import {
  Count,
  DeleteRule,
  InsertRule,
  type MetadataObject,
  type ObjectKind,
  objectKey,
  parseKey,
  QueryRootField,
  type SelectPermission,
  SelectRule,
  type Static,
  SubscriptionRootField,
  type TSchema,
  Type,
  UpdateRule,
} from '@pergola/engine/metadata';
import {
  Comment,
  closed,
  Identifier,
  MetadataName,
  OPEN_OBJECT,
  plainList,
  type Rule,
  withDescription,
} from './annotate.ts';
import { enumeration } from './enumeration.ts';
import type { FieldPath } from './field-path.ts';
import {
  type Inventory,
  kindRow,
  OBJECT_COLUMNS,
  type ResourceDraft,
  specOf,
  type TranslateContext,
} from './kind.ts';
import { projectValue, unproject } from './project.ts';
import {
  describeSource,
  describeTableName,
  printTarget,
  sourceField,
  sourceNamed,
  tableFields,
  tableNamed,
} from './table-name.ts';
import { describeValidation, ValidateInput, validationOf, validationPaths } from './validate-input.ts';

const condition = (description: string) =>
  withDescription(
    `${description} Keys are columns of the database or relationships; operators are _eq, _neq, _gt, _lt, _in, _is_null, _like, _and, _or, ` +
      '_not, _exists and others; values may be session variables: {project: {owner_id: {_eq: X-Engine-User-Id}}}.',
    Type.Unsafe<Readonly<Record<string, unknown>>>(OPEN_OBJECT),
  );

const columns = (description: string) => withDescription(description, plainList(Identifier));

const Presets = withDescription(
  'Values that the engine writes, by column: constants or session variables, for example {owner_id: X-Engine-User-Id}. Clients cannot ' +
    'write these columns, also if `columns` has them.',
  Type.Unsafe<Readonly<Record<string, unknown>>>(OPEN_OBJECT),
);

const BackendOnly = Type.Boolean({
  description:
    'True: only requests with the admin secret and the header x-engine-use-backend-only-permissions: true may do this. Absent: false.',
});

const rootFields = (operation: string, names: TSchema) =>
  withDescription(
    `The root fields of the role in ${operation}. Absent: all. An empty list: the table is reached through relationships only.`,
    plainList(enumeration(names), 4),
  );

export const SelectSpec = closed({
  columns: columns('The columns that the role reads. ["*"] means all, also those that are added later.'),
  computedFields: Type.Optional(
    columns('The computed fields with a scalar value that the role reads. Absent: none.'),
  ),
  filter: condition('The rows that the role reads; {} means all.'),
  maxRows: Type.Optional(
    withDescription(
      'The most rows of each list in a response, nested lists included, whatever limit the request has. Aggregates count all rows. Absent: no ' +
        'limit.',
      Count,
    ),
  ),
  allowAggregations: Type.Optional(
    Type.Boolean({
      description: 'True: the role may count and aggregate the rows that it reads. Absent: false.',
    }),
  ),
  queryRootFields: Type.Optional(rootFields('Query', QueryRootField)),
  subscriptionRootFields: Type.Optional(rootFields('Subscription', SubscriptionRootField)),
});

const InsertSpec = closed({
  check: condition(
    'The condition that every inserted row must satisfy, with the values of `set`; {} means none, and {title: {_neq: ""}} a title that is ' +
      'neither empty nor null.',
  ),
  columns: Type.Optional(
    columns('The columns that the role writes. ["*"] means all. Absent: all without a preset.'),
  ),
  set: Type.Optional(Presets),
  backendOnly: Type.Optional(BackendOnly),
  validateInput: Type.Optional(ValidateInput),
});

const UpdateSpec = closed({
  columns: columns('The columns that the role writes. ["*"] means all; [] none but those of `set`.'),
  filter: condition('The rows that the role updates; {} means all.'),
  check: Type.Optional(
    condition(
      'The condition that every row must satisfy after the update. Absent: none; neither `filter` nor the check of inserts applies to the ' +
        'changed row.',
    ),
  ),
  set: Type.Optional(Presets),
  backendOnly: Type.Optional(BackendOnly),
  validateInput: Type.Optional(ValidateInput),
});

const DeleteSpec = closed({
  filter: condition('The rows that the role deletes; {} means all.'),
  backendOnly: Type.Optional(BackendOnly),
  validateInput: Type.Optional(ValidateInput),
});

/** The operations in the order in which they are written. */
const OPERATIONS = [
  ['insert', 'insert_permission', InsertRule],
  ['select', 'select_permission', SelectRule],
  ['update', 'update_permission', UpdateRule],
  ['delete', 'delete_permission', DeleteRule],
] as const satisfies readonly (readonly [string, ObjectKind, TSchema])[];

/** The fields of a permission: its operations and the comment of each. */
export const PERMISSION_RULES = {
  select: Type.Optional(withDescription('What the role reads. Absent: nothing.', SelectSpec)),
  insert: Type.Optional(withDescription('What the role inserts. Absent: nothing.', InsertSpec)),
  update: Type.Optional(withDescription('What the role updates. Absent: nothing.', UpdateSpec)),
  delete: Type.Optional(withDescription('What the role deletes. Absent: nothing.', DeleteSpec)),
  comment: Type.Optional(
    withDescription('A note for administrators, which exports of the metadata contain.', Comment),
  ),
};

export const SOME_OPERATION: Rule = {
  rule: 'has(self.select) || has(self.insert) || has(self.update) || has(self.delete)',
  message:
    'a permission without select, insert, update and delete allows nothing; add an operation or remove it',
  holds: (permission) => OPERATIONS.some(([name]) => name in permission),
};

/** The rules of a role as a spec has them: fields in camelCase, with the validation of input. */
type Rules = { readonly [K in (typeof OPERATIONS)[number][0] | 'comment']?: unknown };
type RuleSpec = Readonly<Record<string, unknown>> & {
  readonly maxRows?: number;
  readonly validateInput?: Static<typeof ValidateInput>;
};

/** Returns one object per operation of the role on the table. `at` is the path of the rules in the spec. */
export function permissionObjects(
  {
    source,
    table,
  }: { readonly source: string; readonly table: { readonly schema: string; readonly name: string } },
  role: string,
  rules: Rules,
  at: string,
  context: TranslateContext,
): readonly MetadataObject[] {
  const parent = objectKey('table', source, table.schema, table.name);
  return OPERATIONS.filter(([name]) => rules[name] !== undefined).map(([name, kind, schema]) => ({
    key: objectKey(kind, source, table.schema, table.name, role),
    kind,
    parent,
    definition: {
      role,
      permission: ruleOf(schema, rules[name] as RuleSpec, `${at}.${name}`, context),
      comment: rules.comment,
    },
  }));
}

/** Returns a rule as the metadata has it. `at` is its path in the spec. */
export function ruleOf(
  schema: TSchema,
  { maxRows: limit, validateInput, ...rest }: RuleSpec,
  at: string,
  context: TranslateContext,
): object {
  return {
    ...(unproject(schema, rest) as object),
    limit,
    validate_input: validationOf(validateInput, `${at}.validateInput`, context),
  };
}

/** Returns the rule of a spec, the inverse of `ruleOf`. */
export function describeRule(schema: TSchema, rule: SelectRule): object {
  const { limit, validate_input, ...rest } = rule as SelectRule & UpdateRule;
  return {
    ...(projectValue(schema, rest) as object),
    maxRows: limit,
    validateInput: describeValidation(validate_input),
  };
}

/** Returns the fields of a rule for paths in the definition of its permission. `at` is the path of the rule in the spec. */
export function ruleFieldPaths(schema: TSchema, at: string): readonly FieldPath[] {
  return [
    ...(schema === SelectRule
      ? [{ at: `${at}.maxRows`, of: ['permission', 'limit'] }]
      : validationPaths(`${at}.validateInput`)),
    { at, of: ['permission'], as: schema },
    { at },
  ];
}

/** Returns the fields of a permission of a table; none for objects of other kinds. `at` is the path of the object that holds `select`,
 *  `insert`, `update` and `delete`. */
export function permissionFieldPaths(kind: ObjectKind, at: string): readonly FieldPath[] {
  return OPERATIONS.filter(([, own]) => own === kind).flatMap(([name, , schema]) =>
    ruleFieldPaths(schema, `${at}.${name}`),
  );
}

/** Returns a resource for each permission, for those that no Table contains: the comment of one of them may differ. */
function describeEach(inventory: Inventory): readonly ResourceDraft[] {
  return OPERATIONS.flatMap(([name, kind, schema]) =>
    inventory.all(kind).map(({ key, definition }): ResourceDraft => {
      const { role, permission, comment } = definition as SelectPermission;
      const [source, tableSchema = '', table = ''] = parseKey(key)?.segments ?? [];
      return {
        name: `${table}-${role}-${name}`,
        spec: {
          ...describeSource(source),
          ...describeTableName({ schema: tableSchema, name: table }),
          role,
          [name]: describeRule(schema, permission),
          comment,
        },
      };
    }),
  );
}

/** Returns the rules of a table by role, the inverse of `permissionObjects`. Comments that differ between operations are lost. */
export function describePermissions(
  objects: (kind: ObjectKind) => readonly MetadataObject[],
): readonly object[] | undefined {
  const rules = OPERATIONS.flatMap(([name, kind, schema]) =>
    objects(kind).map(({ definition }) => {
      const { role, permission, comment } = definition as SelectPermission;
      return { role, comment, rule: [name, describeRule(schema, permission)] as const };
    }),
  );
  const byRole = [...Map.groupBy(rules, ({ role }) => role)];
  if (byRole.length === 0) return undefined;
  return byRole.map(([role, own]) => ({
    role,
    ...Object.fromEntries(own.map(({ rule }) => rule)),
    comment: own[0]?.comment,
  }));
}

export const TablePermissionSpec = specOf(
  {
    source: sourceField('the table'),
    ...tableFields('The name of the table or view in the database.'),
    role: withDescription('The role that has the permissions, for example editor.', MetadataName),
    ...PERMISSION_RULES,
  },
  { ...SOME_OPERATION, message: `spec: ${SOME_OPERATION.message}` },
);

export const tablePermission = kindRow({
  kind: 'TablePermission',
  plural: 'tablepermissions',
  singular: 'tablepermission',
  shortNames: ['gqlp'],
  concerns: 'object',
  description: 'The permissions of one role on one table.',
  spec: TablePermissionSpec,
  columns: OBJECT_COLUMNS,
  selectableFields: ['.spec.engineRef.name', '.spec.source', '.spec.role'],
  deletionPolicy: 'Delete',
  target: (spec) => `${spec.role} on ${printTarget(spec.source, tableNamed(spec))}`,
  translate: (spec, context) =>
    permissionObjects(
      { source: sourceNamed(spec.source), table: tableNamed(spec) },
      spec.role,
      spec,
      'spec',
      context,
    ),
  fieldPaths: (_, { kind }) => permissionFieldPaths(kind, 'spec'),
  describe: describeEach,
});
