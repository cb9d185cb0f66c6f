/** Where metadata objects of a kind sit inside the fragment they are nested in: how to read them out and write them back.
 *  Pure, and total on anything JSON: what is no list reads as an empty one.
 *  Not here: which kind sits where (objects.ts). */

/** A piece of the document. */
export type Fragment = Readonly<Record<string, unknown>>;

export type Place = {
  /** Keys of the owner that hold nothing but these objects. */
  readonly keys: readonly string[];
  readonly isRequired: boolean;
  readonly read: (owner: Fragment) => readonly Fragment[];
  readonly write: (owner: Fragment, items: readonly Fragment[]) => Fragment;
};

export function place(keys: readonly string[], read: Place['read'], write: Place['write']): Place {
  return { keys, isRequired: false, read, write };
}

/** A list under one key; without items the key is absent unless the owner requires it. */
export function list(at: string, required?: 'required'): Place {
  const isRequired = required === 'required';
  return {
    keys: [at],
    isRequired,
    read: (owner) => (Array.isArray(owner[at]) ? (owner[at] as readonly Fragment[]) : []),
    write: (owner, items) =>
      items.length > 0 || isRequired ? { ...owner, [at]: items } : without(owner, at),
  };
}

/** At most one object, the value of the key itself. */
export function single(at: string): Place {
  return place(
    [at],
    (owner) => (owner[at] === undefined || owner[at] === null ? [] : [owner[at] as Fragment]),
    (owner, items) => (items[0] ? { ...owner, [at]: items[0] } : without(owner, at)),
  );
}

export const CUSTOM_TYPE_CATEGORIES = ['scalars', 'enums', 'input_objects', 'objects'] as const;
/** One document key, four lists; as objects each says its category. */
export const customTypes = place(
  ['custom_types'],
  (owner) =>
    CUSTOM_TYPE_CATEGORIES.flatMap((category) =>
      list(category)
        .read(fragmentAt(owner, 'custom_types'))
        .map((definition) => ({ category, definition })),
    ),
  (owner, items) => {
    const { custom_types: _, ...rest } = owner;
    const written = CUSTOM_TYPE_CATEGORIES.reduce<Fragment>(
      (types, category) =>
        list(category).write(
          types,
          items.filter((item) => item['category'] === category).map((item) => item['definition'] as Fragment),
        ),
      {},
    );
    return items.length === 0 ? rest : { ...owner, custom_types: written };
  },
);

/** In the document grouped by type; as objects one by one, each with its `type_name`. */
export const remoteTypes = place(
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

export const tlsHosts = place(
  ['network'],
  (owner) => list('tls_allowlist').read(fragmentAt(owner, 'network')),
  (owner, items) => single('network').write(owner, items.length > 0 ? [{ tls_allowlist: items }] : []),
);

function fragmentAt(owner: Fragment, key: string): Fragment {
  return (owner[key] ?? {}) as Fragment;
}

function without(owner: Fragment, key: string): Fragment {
  const { [key]: _, ...rest } = owner;
  return rest;
}
