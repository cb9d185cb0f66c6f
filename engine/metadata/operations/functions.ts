/** Operations on tracked functions, their permissions and computed fields. In: their arguments. Out: rows of OPERATIONS.
 *  Not here: performing them (admin/). */
import { ObjectName, QualifiedName, RoleName } from '../schema/common.ts';
import { ComputedField, FunctionConfiguration } from '../schema/function.ts';
import { Type } from '../schema/type.ts';
import { comment, flag } from './arguments.ts';
import { type OperationDeclaration, sourced } from './row.ts';

const trackedFunction = {
  function: QualifiedName,
  configuration: Type.Optional(FunctionConfiguration),
  comment,
};

/** Rewrites the arguments of version 1, the name of the function as text or as `{schema, name}`. */
function nameFunction(args: unknown): unknown {
  if (typeof args === 'string') return { function: args };
  if (typeof args !== 'object' || args === null || 'function' in args) return args;
  const { schema, name, table, ...rest } = args as Record<string, unknown>;
  const named = table ?? (schema === undefined ? name : { schema, name });
  return { ...rest, function: named };
}

export const FUNCTION_OPERATIONS = {
  track_function: sourced('edit', 'Adds an SQL function to the GraphQL schema.', trackedFunction, {
    versions: [1, 2],
    lenient: nameFunction,
  }),
  untrack_function: sourced(
    'edit',
    'Removes a function from the GraphQL schema.',
    { function: QualifiedName },
    { lenient: nameFunction },
  ),
  track_functions: sourced('edit', 'Tracks several functions. One that fails is a warning, unless all do.', {
    functions: Type.Array(Type.Object({ source: Type.Optional(ObjectName), ...trackedFunction })),
    allow_warnings: flag,
  }),
  untrack_functions: sourced(
    'edit',
    'Untracks several functions. One that fails is a warning, unless all do.',
    {
      functions: Type.Array(Type.Object({ source: Type.Optional(ObjectName), function: QualifiedName })),
      allow_warnings: flag,
    },
  ),
  set_function_customization: sourced('edit', 'Replaces the names and options of a tracked function.', {
    function: QualifiedName,
    configuration: FunctionConfiguration,
  }),
  create_function_permission: sourced('edit', 'Lets a role call a function.', {
    function: QualifiedName,
    role: RoleName,
  }),
  drop_function_permission: sourced('edit', 'Removes the permission to call a function.', {
    function: QualifiedName,
    role: RoleName,
  }),
  add_computed_field: sourced('edit', 'Adds a field whose value a function computes from the row.', {
    table: QualifiedName,
    ...ComputedField.properties,
  }),
  drop_computed_field: sourced('edit', 'Drops a computed field; with `cascade` also what uses it.', {
    table: QualifiedName,
    name: ObjectName,
    cascade: flag,
  }),
} as const satisfies Record<string, OperationDeclaration>;
