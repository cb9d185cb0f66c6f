/** Our names of the types and fields of a remote schema: a namespace for its root fields, prefixes, suffixes, and names chosen one
 *  by one. Prefixes and suffixes do not change GraphQL's own scalars, enums, and root types without a namespace.
 *  In: customization × UpstreamSchema. Out: RemoteNames. Raises `remoteSchemaInvalid`, `invalidParameters`.
 *  Reference: docs/reference/behaviour/remote-schemas.md; message texts: docs/reference/behaviour/errors.md. Not here: conflicts with other names (conflicts.ts). */

import { fail } from '../errors/engine-error.ts';
import type { RemoteSchemaDefinition } from '../metadata/schema/remote-schema.ts';
import type { RemoteNames } from './model/remote-schema.ts';
import { isGraphqlName } from './names.ts';
import {
  BUILT_IN_SCALARS,
  type UpstreamComposite,
  type UpstreamSchema,
  type UpstreamType,
} from './upstream.ts';

type Customization = NonNullable<RemoteSchemaDefinition['customization']>;
type Affixed = {
  readonly prefix?: string | null;
  readonly suffix?: string | null;
  readonly mapping?: Readonly<Record<string, string>>;
};

export function remoteNames(schema: UpstreamSchema, customization: Customization | undefined): RemoteNames {
  const { root_fields_namespace = null, type_names = {}, field_names = [] } = customization ?? {};
  const types = typeNames(schema, root_fields_namespace, type_names);
  const fields = new Map(field_names.map((rule) => [rule.parent_type, fieldNames(schema, rule)]));
  for (const type of schema.types.values()) {
    if (type.kind === 'object')
      for (const name of type.interfaces) checkInterface(schema, fields, type, name);
  }
  return {
    namespace: root_fields_namespace,
    types,
    upstreamTypes: new Map([...types].map(([theirs, ours]) => [ours, theirs])),
    fields,
    renamesObjects: [...schema.types.values()].some(
      ({ kind, name }) => kind === 'object' && types.get(name) !== name,
    ),
  };
}

/** Returns our name of a field. */
export function fieldNameOf({ fields }: RemoteNames, type: string, field: string): string {
  return fields.get(type)?.get(field) ?? field;
}

export function typeNameOf({ types }: RemoteNames, type: string): string {
  return types.get(type) ?? type;
}

function typeNames(
  { types, roots }: UpstreamSchema,
  namespace: string | null,
  { prefix, suffix, mapping = {} }: Affixed,
): ReadonlyMap<string, string> {
  refuseReserved(mapping, 'type');
  const rootTypes = new Set(Object.values(roots));
  const nameFor = (type: UpstreamType): string => {
    const chosen = Object.hasOwn(mapping, type.name) ? mapping[type.name] : undefined;
    if (chosen !== undefined) return chosen;
    if (type.kind === 'enum' || BUILT_IN_SCALARS.has(type.name)) return type.name;
    if (rootTypes.has(type.name) && namespace === null) return type.name;
    const affixed = `${prefix ?? ''}${type.name}${suffix ?? ''}`;
    return rootTypes.has(type.name) && affixed === type.name ? `${namespace}${type.name}` : affixed;
  };
  // A scalar of GraphQL itself can be renamed without a declaration.
  const undeclared = Object.keys(mapping).filter((name) => BUILT_IN_SCALARS.has(name) && !types.has(name));
  const names = new Map([
    ...[...types.values()].map((type) => [type.name, nameFor(type)] as const),
    ...undeclared.map((name) => [name, mapping[name]!] as const),
  ]);
  const twice = repeated([...names.values()]);
  if (twice.length > 0) {
    const text = `Type name mappings are not distinct; the following types appear more than once: ${quoted(twice)}`;
    fail('remoteSchemaInvalid', { text });
  }
  refuseIllNamed(names.values());
  return names;
}

function fieldNames(
  { types }: UpstreamSchema,
  { parent_type, prefix, suffix, mapping = {} }: Affixed & { readonly parent_type: string },
): ReadonlyMap<string, string> {
  refuseReserved(mapping, 'field');
  const type = types.get(parent_type);
  if (type?.kind !== 'object' && type?.kind !== 'interface') return new Map();
  const names = new Map(
    type.fields.map(({ name }) => {
      const chosen = Object.hasOwn(mapping, name) ? mapping[name] : undefined;
      return [name, chosen ?? `${prefix ?? ''}${name}${suffix ?? ''}`];
    }),
  );
  const twice = repeated([...names.values()]);
  if (twice.length > 0) {
    const text =
      `Field name mappings for ${type.kind} type "${type.name}" are not distinct; ` +
      `the following fields appear more than once: ${quoted(twice)}`;
    fail('remoteSchemaInvalid', { text });
  }
  refuseIllNamed(names.values());
  return names;
}

/** Raises `remoteSchemaInvalid` when a field has another name in an object than in its interface. */
function checkInterface(
  { types }: UpstreamSchema,
  fields: RemoteNames['fields'],
  type: UpstreamComposite,
  name: string,
): void {
  const implemented = types.get(name);
  if (implemented?.kind !== 'interface') return;
  for (const field of implemented.fields) {
    const promised = fields.get(name)?.get(field.name) ?? field.name;
    const own = fields.get(type.name)?.get(field.name) ?? field.name;
    if (promised === own) continue;
    const text =
      `Remote schema customization inconsistency: field name mapping for field "${field.name}" of interface "${name}" ` +
      `is inconsistent with mapping for type "${type.name}". Interface field name maps to "${promised}". ` +
      `Type field name maps to "${own}".`;
    fail('remoteSchemaInvalid', { text });
  }
}

function refuseReserved(mapping: Readonly<Record<string, string>>, what: 'type' | 'field'): void {
  const reserved = Object.keys(mapping).find((name) => name.startsWith('__'));
  if (reserved === undefined) return;
  fail('invalidParameters', { text: `attempt to customize reserved ${what} name "${reserved}"` });
}

function refuseIllNamed(names: Iterable<string>): void {
  const wrong = [...names].find((name) => !isGraphqlName(name));
  if (wrong !== undefined) {
    fail('remoteSchemaInvalid', { text: `"${wrong}" is not a valid GraphQL identifier` });
  }
}

/** Returns each name that is in the list again. */
export function repeated(names: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  return [...new Set(names.filter((name) => seen.size === seen.add(name).size))];
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}
