/** TablePermission: the permissions of one role on one table. Its four rules are projected from the metadata; a Table has the same
 *  inline, keyed by role. Each operation is a separate object, so two resources conflict only on the same one. */
import {
  DeleteRule,
  InsertRule,
  type MetadataObject,
  type ObjectKind,
  objectKey,
  type SelectPermission,
  SelectRule,
  type TSchema,
  Type,
  UpdateRule,
} from '@pergola/engine/metadata';
import { Comment, MetadataName, type Rule, withDescription } from './annotate.ts';
import type { FieldPath } from './field-path.ts';
import { kindRow, OBJECT_COLUMNS, specOf } from './kind.ts';
import { project, projectValue, unproject } from './project.ts';
import { printTarget, sourceField, sourceNamed, tableFields, tableNamed } from './table-name.ts';

/** The operations in the order in which they are written. */
const OPERATIONS = [
  ['insert', 'insert_permission', InsertRule],
  ['select', 'select_permission', SelectRule],
  ['update', 'update_permission', UpdateRule],
  ['delete', 'delete_permission', DeleteRule],
] as const satisfies readonly (readonly [string, ObjectKind, TSchema])[];

/** The fields of a permission: its operations and the comment of each. */
export const PERMISSION_RULES = {
  select: Type.Optional(project(SelectRule)),
  insert: Type.Optional(project(InsertRule)),
  update: Type.Optional(project(UpdateRule)),
  delete: Type.Optional(project(DeleteRule)),
  comment: Type.Optional(Comment),
};

export const SOME_OPERATION: Rule = {
  rule: 'has(self.select) || has(self.insert) || has(self.update) || has(self.delete)',
  message:
    'a permission without select, insert, update and delete allows nothing; add an operation or remove it',
  holds: (permission) => OPERATIONS.some(([name]) => name in permission),
};

export type PermissionRules = {
  readonly [K in (typeof OPERATIONS)[number][0] | 'comment']?: unknown;
};

/** Returns one object per operation of the role on the table. */
export function permissionObjects(
  source: string,
  table: { readonly schema: string; readonly name: string },
  role: string,
  rules: PermissionRules,
): readonly MetadataObject[] {
  const parent = objectKey('table', source, table.schema, table.name);
  return OPERATIONS.filter(([name]) => rules[name] !== undefined).map(([name, kind, schema]) => ({
    key: objectKey(kind, source, table.schema, table.name, role),
    kind,
    parent,
    definition: { role, permission: unproject(schema, rules[name]), comment: rules.comment },
  }));
}

/** Returns the path of the rule of a permission kind; empty for other kinds. `at` is the path of the object that holds `select`,
 *  `insert`, `update` and `delete`. */
export function ruleFieldPaths(kind: ObjectKind, at: string): readonly FieldPath[] {
  return OPERATIONS.filter(([, own]) => own === kind).flatMap(([name, , schema]) => [
    { at: `${at}.${name}`, of: ['permission'], as: schema },
    { at: `${at}.${name}` },
  ]);
}

/** Returns the rules of a table by role, the inverse of `permissionObjects`. Comments that differ between operations are lost. */
export function describePermissions(
  objects: (kind: ObjectKind) => readonly MetadataObject[],
): readonly object[] | undefined {
  const rules = OPERATIONS.flatMap(([name, kind, schema]) =>
    objects(kind).map(({ definition }) => {
      const { role, permission, comment } = definition as SelectPermission;
      return { role, comment, rule: [name, projectValue(schema, permission)] as const };
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
    role: withDescription('The role that has the permissions.', MetadataName),
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
  translate: (spec) => permissionObjects(sourceNamed(spec.source), tableNamed(spec), spec.role, spec),
  fieldPaths: (_, { kind }) => ruleFieldPaths(kind, 'spec'),
});
