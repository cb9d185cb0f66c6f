/** Locations of metadata objects inside the fragment they are nested in: reading the objects of a kind and writing them back.
 *  Pure, and total on any JSON: a value that is no list reads as an empty list.
 *  Not here: the location of each kind (objects.ts). */

import type { JsonRecord } from '../json/value.ts';

export type Location = {
  /** Keys of the owner that contain only these objects. */
  readonly keys: readonly string[];
  readonly isRequired: boolean;
  readonly read: (owner: JsonRecord) => readonly JsonRecord[];
  readonly write: (owner: JsonRecord, items: readonly JsonRecord[]) => JsonRecord;
};

export function location(
  keys: readonly string[],
  read: Location['read'],
  write: Location['write'],
): Location {
  return { keys, isRequired: false, read, write };
}

/** Returns the location of a list under one key. Without items the key is absent unless the owner requires it. */
export function list(at: string, required?: 'required'): Location {
  const isRequired = required === 'required';
  return {
    keys: [at],
    isRequired,
    read: (owner) => (Array.isArray(owner[at]) ? (owner[at] as readonly JsonRecord[]) : []),
    write: (owner, items) =>
      items.length > 0 || isRequired ? { ...owner, [at]: items } : without(owner, at),
  };
}

/** Returns the location of at most one object, the value of a key. */
export function single(at: string): Location {
  return location(
    [at],
    (owner) => (owner[at] === undefined || owner[at] === null ? [] : [owner[at] as JsonRecord]),
    (owner, items) => (items[0] ? { ...owner, [at]: items[0] } : without(owner, at)),
  );
}

export const CUSTOM_TYPE_CATEGORIES = ['scalars', 'enums', 'input_objects', 'objects'] as const;
/** The location of custom types: four lists under one key of the document. Each object has its category. */
export const customTypes = location(
  ['custom_types'],
  (owner) =>
    CUSTOM_TYPE_CATEGORIES.flatMap((category) =>
      list(category)
        .read(fragmentAt(owner, 'custom_types'))
        .map((definition) => ({ category, definition })),
    ),
  (owner, items) => {
    const { custom_types: _, ...rest } = owner;
    const given = fragmentAt(owner, 'custom_types');
    const written = CUSTOM_TYPE_CATEGORIES.reduce<JsonRecord>((types, category) => {
      const definitions = items.flatMap((item) =>
        item['category'] === category ? [item['definition'] as JsonRecord] : [],
      );
      // A list that is empty and stays so is kept as it was given.
      const isKept = definitions.length === 0 && list(category).read(given).length === 0;
      return isKept ? types : list(category).write(types, definitions);
    }, given);
    return items.length === 0 ? rest : { ...owner, custom_types: written };
  },
);

/** The location of relationships of remote schemas, which the document groups by type. Each object has its `type_name`. */
export const remoteTypes = location(
  ['remote_relationships'],
  (owner) =>
    list('remote_relationships')
      .read(owner)
      .flatMap(({ type_name, ...group }) =>
        list('relationships')
          .read(group)
          .map((relationship) => ({ type_name, ...relationship })),
      ),
  (owner, items) => {
    const types = [...new Set(items.map((item) => item['type_name']))];
    const groups = types.map((type_name) => ({
      type_name,
      relationships: items
        .filter((item) => item['type_name'] === type_name)
        .map(({ type_name: _, ...relationship }) => relationship),
    }));
    return list('remote_relationships').write(owner, groups);
  },
);

export const tlsHosts = location(
  ['network'],
  (owner) => list('tls_allowlist').read(fragmentAt(owner, 'network')),
  (owner, items) => single('network').write(owner, items.length > 0 ? [{ tls_allowlist: items }] : []),
);

function fragmentAt(owner: JsonRecord, key: string): JsonRecord {
  return (owner[key] ?? {}) as JsonRecord;
}

function without(owner: JsonRecord, key: string): JsonRecord {
  const { [key]: _, ...rest } = owner;
  return rest;
}
