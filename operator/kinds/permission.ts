/** TablePermission: the permissions of one role on one table. A Table has the same rules inline, keyed by role. Each operation is a
 *  separate object, so two resources conflict only on the same one.
 *  Not here: the call of a webhook that validates input (engine/webhook/input-validation.ts). */
import {
  Count,
  QueryRootField,
  Seconds,
  SubscriptionRootField,
  secret,
  type TSchema,
  Type,
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
import { kindRow, specOf } from './kind.ts';
import { allOrListed, inForm, optional, required, within } from './mapping.ts';
import type { ObjectPart } from './parts.ts';
import { printTarget, sourceField, tableFields, tableNamed } from './table-name.ts';
import { Headers, urlMember } from './value-source.ts';

const condition = (description: string) =>
  withDescription(
    `${description} Keys are columns of the database or relationships; operators are _eq, _neq, _gt, _lt, _in, _is_null, _like, _and, _or, ` +
      '_not, _exists and others; values may be session variables: {project: {owner_id: {_eq: X-Engine-User-Id}}}.',
    Type.Unsafe<Readonly<Record<string, unknown>>>(OPEN_OBJECT),
  );

const Columns = allOrListed(plainList(Identifier));

const Presets = withDescription(
  'Values that the engine writes, by column: constants or session variables, for example {owner_id: X-Engine-User-Id}. Clients cannot ' +
    'write these columns, also if `columns` has them.',
  secret(Type.Unsafe<Readonly<Record<string, unknown>>>(OPEN_OBJECT)),
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

/** The webhook of a permission, whose `type` and `definition` are one level in a resource. */
const Webhook = closed(
  within('definition', {
    url: urlMember('url', 'The URL of the webhook.'),
    headers: Type.Optional(Headers),
    forwardClientHeaders: optional(
      'True: the headers of the client are sent to the webhook as well. Absent: false.',
      Type.Boolean(),
    ),
    timeoutSeconds: optional(
      'The seconds to wait for the answer of the webhook. Absent: 10.',
      Seconds,
      'timeout',
    ),
  }),
);

const ValidateInput = withDescription(
  'A webhook that is called with the input before rows are written. It refuses the request by an answer with status 400.',
  inForm(Webhook, { write: (webhook) => ({ type: 'http', ...webhook }), read: (webhook) => webhook }),
);

export const SelectSpec = closed({
  columns: required(
    'The columns that the role reads. ["*"] means all, also those that are added later.',
    Columns,
  ),
  computedFields: optional(
    'The computed fields with a scalar value that the role reads. Absent: none.',
    plainList(Identifier),
  ),
  filter: condition('The rows that the role reads; {} means all.'),
  maxRows: optional(
    'The most rows of each list in a response, nested lists included, whatever limit the request has. Aggregates count all rows. Absent: no ' +
      'limit.',
    Count,
    'limit',
  ),
  allowAggregations: optional(
    'True: the role may count and aggregate the rows that it reads. Absent: false.',
    Type.Boolean(),
  ),
  queryRootFields: Type.Optional(rootFields('Query', QueryRootField)),
  subscriptionRootFields: Type.Optional(rootFields('Subscription', SubscriptionRootField)),
});

const InsertSpec = closed({
  check: condition(
    'The condition that every inserted row must satisfy, with the values of `set`; {} means none, and {title: {_neq: ""}} a title that is ' +
      'neither empty nor null.',
  ),
  columns: optional(
    'The columns that the role writes. ["*"] means all. Absent: all without a preset.',
    Columns,
  ),
  set: Type.Optional(Presets),
  backendOnly: Type.Optional(BackendOnly),
  validateInput: Type.Optional(ValidateInput),
});

const UpdateSpec = closed({
  columns: required(
    'The columns that the role writes. ["*"] means all; [] none but those of `set`.',
    Columns,
  ),
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
const OPERATIONS = ['insert', 'select', 'update', 'delete'] as const;

/** Returns the parts of permissions: an object for each operation. `at` is the path of the objects with the operations. */
export function permissionParts(key: readonly string[], at?: string): readonly ObjectPart[] {
  return OPERATIONS.map((when) => ({
    kind: `${when}_permission` as const,
    key,
    when,
    ...(at ? { at } : {}),
  }));
}

/** The fields of a permission: its operations and the comment of each. */
export const PERMISSION_RULES = {
  select: optional('What the role reads. Absent: nothing.', SelectSpec, 'permission'),
  insert: optional('What the role inserts. Absent: nothing.', InsertSpec, 'permission'),
  update: optional('What the role updates. Absent: nothing.', UpdateSpec, 'permission'),
  delete: optional('What the role deletes. Absent: nothing.', DeleteSpec, 'permission'),
  comment: optional('A note for administrators, which exports of the metadata contain.', Comment),
};

export const SOME_OPERATION: Rule = {
  rule: 'has(self.select) || has(self.insert) || has(self.update) || has(self.delete)',
  message:
    'a permission without select, insert, update and delete allows nothing; add an operation or remove it',
  holds: (permission) => OPERATIONS.some((operation) => operation in permission),
};

export const TablePermissionSpec = specOf(
  {
    source: sourceField('the table'),
    ...tableFields('The name of the table or view in the database.'),
    role: required('The role that has the permissions, for example editor.', MetadataName),
    ...PERMISSION_RULES,
  },
  { ...SOME_OPERATION, message: `spec: ${SOME_OPERATION.message}` },
);

export const tablePermission = kindRow({
  kind: 'TablePermission',
  shortNames: ['gqlp'],
  concerns: 'object',
  description: 'The permissions of one role on one table.',
  spec: TablePermissionSpec,
  selectableFields: ['.spec.engineRef.name', '.spec.source', '.spec.role'],
  target: (spec) => `${spec.role} on ${printTarget(spec.source, tableNamed(spec))}`,
  objects: permissionParts(['source', 'schema', 'table', 'role']),
  drafts: { name: ([, , table, role], part) => `${table}-${role}-${part?.when}` },
});
