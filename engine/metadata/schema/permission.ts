/** Permissions of a role on a table to select, insert, update and delete.
 *  Spec: "Permission arguments"; options beyond it: docs/reference/behaviour/permissions.md. */

import {
  BoolExp,
  Columns,
  Comment,
  ForwardClientHeaders,
  Header,
  nullable,
  Presets,
  RoleName,
  UrlTemplate,
} from './common.ts';
import { ref } from './marks.ts';
import { Count, Seconds } from './number.ts';
import { oneOf, type Static, type TSchema, Type } from './type.ts';

/** A webhook that validates input before rows are written. */
export const ValidateInput = Type.Object({
  type: Type.Literal('http'),
  definition: Type.Object({
    url: UrlTemplate,
    headers: Type.Optional(Type.Array(Header)),
    forward_client_headers: Type.Optional(ForwardClientHeaders),
    timeout: Type.Optional(Seconds),
  }),
});

export type ValidateInput = Static<typeof ValidateInput>;

/** The root fields of a table in Query. */
export const QueryRootField = oneOf('select', 'select_by_pk', 'select_aggregate');
/** The root fields of a table in Subscription. */
export const SubscriptionRootField = oneOf('select', 'select_by_pk', 'select_aggregate', 'select_stream');

export const SelectRule = Type.Object({
  columns: Columns,
  computed_fields: Type.Optional(Type.Array(ref('computed_field', Type.String()))),
  /** The rows that the role may read; `{}` for all. */
  filter: BoolExp,
  /** The largest number of rows that a selection returns. */
  limit: Type.Optional(Count),
  allow_aggregations: Type.Optional(Type.Boolean()),
  /** The root fields that read the table; null for all, [] when it is reachable through relationships only. */
  query_root_fields: Type.Optional(nullable(Type.Array(QueryRootField))),
  subscription_root_fields: Type.Optional(nullable(Type.Array(SubscriptionRootField))),
});
export type SelectRule = Static<typeof SelectRule>;

export const InsertRule = Type.Object({
  /** The condition that every inserted row must satisfy. */
  check: BoolExp,
  columns: Type.Optional(Columns),
  set: Type.Optional(Presets),
  backend_only: Type.Optional(Type.Boolean()),
  validate_input: Type.Optional(ValidateInput),
});
export type InsertRule = Static<typeof InsertRule>;

export const UpdateRule = Type.Object({
  columns: Columns,
  /** The rows that the role may update. */
  filter: BoolExp,
  /** The condition that every row must satisfy after the update. */
  check: Type.Optional(nullable(BoolExp)),
  set: Type.Optional(Presets),
  backend_only: Type.Optional(Type.Boolean()),
  validate_input: Type.Optional(ValidateInput),
});
export type UpdateRule = Static<typeof UpdateRule>;

export const DeleteRule = Type.Object({
  filter: BoolExp,
  backend_only: Type.Optional(Type.Boolean()),
  validate_input: Type.Optional(ValidateInput),
});
export type DeleteRule = Static<typeof DeleteRule>;

const permission = <T extends TSchema>(rule: T) =>
  Type.Object(
    { role: RoleName, permission: rule, comment: Type.Optional(Comment) },
    { additionalProperties: false },
  );

export const SelectPermission = permission(SelectRule);
export type SelectPermission = Static<typeof SelectPermission>;
export const InsertPermission = permission(InsertRule);
export type InsertPermission = Static<typeof InsertPermission>;
export const UpdatePermission = permission(UpdateRule);
export type UpdatePermission = Static<typeof UpdatePermission>;
export const DeletePermission = permission(DeleteRule);
export type DeletePermission = Static<typeof DeletePermission>;
