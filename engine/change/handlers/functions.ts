/** Operations on tracked functions and computed fields. Spec: "track_function"; docs/reference/behaviour/functions.md.
 *  Not here: does the function exist, and does it fit (resolve/function.ts). */
import { fail, withPath } from '../../errors/engine-error.ts';
import { dependentsOf, removeObjects } from '../../metadata/dependencies.ts';
import { putObject, removeObject } from '../../metadata/edit.ts';
import { findObject, objectKey } from '../../metadata/objects.ts';
import { printQualified, type QualifiedName } from '../../metadata/schema/common.ts';
import { printDependents } from '../dependents.ts';
import type { Handler } from './handler.ts';
import { editObject, isSameTable, keyIn, putIn, requireSource, requireTable } from './handler.ts';

type FunctionArgs = { readonly source: string; readonly function: QualifiedName };

/** Raises `functionAlreadyTracked`; `notSupported` when a table of that name is tracked. */
export const trackFunction: Handler<'track_function'> = (draft, args) => {
  const { tables } = requireSource(draft, args.source);
  const key = functionKey(args);
  if (findObject(draft, key)) fail('functionAlreadyTracked', { name: printQualified(args.function) });
  if (tables.some(({ table }) => isSameTable(table, args.function))) {
    fail('notSupported', { text: `table with name "${printQualified(args.function)}" already exists` });
  }
  const { configuration, comment } = args;
  const definition = {
    function: args.function,
    ...(configuration ? { configuration } : {}),
    ...(typeof comment === 'string' ? { comment } : {}),
  };
  return putObject(draft, { key, kind: 'function', parent: objectKey('source', args.source), definition });
};

export const untrackFunction: Handler<'untrack_function'> = (draft, args) =>
  removeObject(draft, requireFunction(draft, args));

export const setFunctionCustomization: Handler<'set_function_customization'> = (draft, args) =>
  editObject(draft, requireFunction(draft, args), { configuration: args.configuration });

export const createFunctionPermission: Handler<'create_function_permission'> = (draft, args) => {
  const parent = requireFunction(draft, args);
  const key = permissionKey(args);
  if (findObject(draft, key)) {
    fail('functionPermissionExists', { name: printQualified(args.function), role: args.role });
  }
  return putObject(draft, { key, kind: 'function_permission', parent, definition: { role: args.role } });
};

export const dropFunctionPermission: Handler<'drop_function_permission'> = (draft, args) => {
  requireFunction(draft, args);
  const key = permissionKey(args);
  if (!findObject(draft, key)) {
    fail('functionPermissionMissing', { name: printQualified(args.function), role: args.role });
  }
  return removeObject(draft, key);
};

/** Raises `fieldConflict` when the table has a computed field or relationship of that name. */
export const addComputedField: Handler<'add_computed_field'> = (draft, args) => {
  const table = withPath('table', () => requireTable(draft, args, 'tableOfComputedFieldNotExists'));
  const { name, definition, comment } = args;
  if (findObject(draft, keyIn('computed_field', args, name))) {
    fail('fieldConflict', { table: printQualified(args.table), with: `computed field "${name}"` });
  }
  const relationships = [...(table.object_relationships ?? []), ...(table.array_relationships ?? [])];
  if (relationships.some((relationship) => relationship.name === name)) {
    fail('fieldConflict', { table: printQualified(args.table), with: `relationship "${name}"` });
  }
  const field = { name, definition, ...(typeof comment === 'string' ? { comment } : {}) };
  return putIn(draft, 'computed_field', args, { name, definition: field });
};

/** Raises `computedFieldNotExists`, `cannotDropDependents`. */
export const dropComputedField: Handler<'drop_computed_field'> = (draft, args) => {
  withPath('table', () => requireTable(draft, args, 'tableOfComputedFieldNotExists'));
  const key = keyIn('computed_field', args, args.name);
  if (!findObject(draft, key)) fail('computedFieldNotExists', { name: args.name }, { path: ['name'] });
  const dependents = dependentsOf(draft, key);
  if (dependents.length > 0 && !args.cascade) {
    fail('cannotDropDependents', { dependents: printDependents(dependents) });
  }
  return removeObject(removeObjects(draft, dependents), key);
};

function functionKey({ source, function: name }: FunctionArgs): string {
  return objectKey('function', source, name.schema, name.name);
}

function permissionKey(args: FunctionArgs & { readonly role: string }): string {
  return objectKey('function_permission', args.source, args.function.schema, args.function.name, args.role);
}

/** Returns the key of a tracked function. Raises `functionNotTracked`. */
function requireFunction(draft: Parameters<Handler<'untrack_function'>>[0], args: FunctionArgs): string {
  requireSource(draft, args.source);
  const key = functionKey(args);
  if (!findObject(draft, key)) fail('functionNotTracked', { name: printQualified(args.function) });
  return key;
}
