/** Describes metadata as resources, the inverse of a pass, for `import` and `export --as crs`. The description is complete: each resource
 *  is translated and compared with the original objects, and objects that no kind can express become part of a MetadataBundle.
 *  In: a document. Out: resources without a namespace, and their Secrets. Pure. Not here: files (folder/write-folder.ts). */
import {
  EngineError,
  isRecord,
  Metadata,
  type MetadataObject,
  type ObjectKind,
  objectsOf,
  parseJson,
  parseReference,
  variablesIn,
} from '@pergola/engine/metadata';
import { MOST_ITEMS } from '../kinds/annotate.ts';
import {
  type Inventory,
  type KindRow,
  type MetadataValue,
  type ResourceDraft,
  SpecProblem,
  type ValueSource,
} from '../kinds/kind.ts';
import { problemsOf } from '../kinds/validate.ts';
import { secretOfValue } from '../kinds/value-source.ts';
import { KINDS, kindOf } from '../kinds.ts';
import { hashOf, normalised, stableJson } from '../objects/normal-form.ts';

export type DescribedResource = {
  readonly kind: string;
  readonly name: string;
  readonly spec: Readonly<Record<string, unknown>>;
};

export type DescribedSecret = {
  readonly name: string;
  readonly values: Readonly<Record<string, string>>;
};

export type Description = {
  readonly resources: readonly DescribedResource[];
  /** The values that the metadata contains as text and that belong into Secrets. */
  readonly secrets: readonly DescribedSecret[];
};

export function describeMetadata(metadata: Metadata, engineRef: { readonly name: string }): Description {
  const objects = objectsOf(metadata);
  const hashes = new Map([...objects.values()].map((object) => [object.key, hashOf(normalised(object))]));
  const values = storedValues(metadata);
  const resources: DescribedResource[] = [];
  const secrets: DescribedSecret[] = [];
  const left = new Set(objects.keys());
  for (const row of KINDS as readonly KindRow[]) {
    const taken = new Set<string>();
    const accept = (draft: ResourceDraft, { name, spec, secret }: Named, keys: readonly string[]) => {
      taken.add(name);
      for (const key of keys) left.delete(key);
      resources.push({ kind: row.kind, name, spec });
      const values = draft.secrets ?? {};
      if (Object.keys(values).length > 0) secrets.push({ name: secret, values });
    };
    const hidden = new Set<string>();
    const tried = () => {
      const visible = hidden.size === 0 ? objects : without(objects, hidden);
      for (const draft of row.describe?.(inventoryOf(visible)) ?? []) {
        const named = namedIn(row, draft, taken, engineRef);
        const { keys, wrong } = translatedKeys(row, named, draft.secrets ?? {}, { hashes, values });
        if (wrong.length === 0 && keys.length > 0 && keys.every((key) => left.has(key)))
          accept(draft, named, keys);
        // The rest of a table is described without a permission that its kind cannot express.
        else for (const key of wrong) if (objects.get(key)?.parent) hidden.add(key);
      }
    };
    tried();
    if (hidden.size > 0) tried();
  }
  const rest = [...objects.values()].filter(({ key }) => left.has(key));
  return { resources: [...resources, ...bundlesOf(rest, engineRef)], secrets };
}

function inventoryOf(objects: ReadonlyMap<string, MetadataObject>): Inventory {
  const byKind = Map.groupBy(objects.values(), ({ kind }) => kind);
  const groupId = (parent: string | null, kind: ObjectKind) => `${kind} ${parent}`;
  const byParent = Map.groupBy(objects.values(), ({ parent, kind }) => groupId(parent, kind));
  return {
    all: (kind) => byKind.get(kind) ?? [],
    under: (parent, kind) => byParent.get(groupId(parent, kind)) ?? [],
  };
}

/** Returns the spec as plain JSON without null values and empty lists, which appliers would keep. */
function specOf(draft: ResourceDraft, engineRef: object, secret: string): DescribedResource['spec'] {
  const text = JSON.stringify({ engineRef, ...draft.spec }, (key, value: unknown) => {
    if (key === 'secretKeyRef' && isRecord(value)) return { ...value, name: value['name'] || secret };
    return value === null ? undefined : value;
  });
  return parseJson(text) as DescribedResource['spec'];
}

/** Returns the keys of the objects the spec translates to, and those of objects that differ from the ones it was created from. Without keys
 *  the spec cannot be translated. */
function translatedKeys(
  row: KindRow,
  { spec, secret }: Named,
  secrets: Readonly<Record<string, string>>,
  { hashes, values }: Known,
): { readonly keys: readonly string[]; readonly wrong: readonly string[] } {
  if (problemsOf(row, spec).length > 0) return NOTHING;
  const valueFrom = (source: ValueSource) => valueIn(source, { secret, secrets, values });
  try {
    const translated = row.translate(spec, { valueFrom }).map(normalised);
    const wrong = translated.filter((object) => hashes.get(object.key) !== hashOf(object));
    return { keys: translated.map(({ key }) => key), wrong: wrong.map(({ key }) => key) };
  } catch (error) {
    if (error instanceof SpecProblem || error instanceof EngineError) return NOTHING;
    throw error;
  }
}

const NOTHING = { keys: [], wrong: [] };

type Known = {
  /** The hashes of the objects of the document, by key. */
  readonly hashes: ReadonlyMap<string, string>;
  /** The names of the values that an operator stores, by Secret and key. */
  readonly values: ReadonlyMap<string, string>;
};

/** A resource with its name, and the name that its own Secret would have. */
type Named = { readonly name: string; readonly spec: DescribedResource['spec']; readonly secret: string };

function namedIn(row: KindRow, draft: ResourceDraft, taken: ReadonlySet<string>, engineRef: object): Named {
  const name = freeName(draft.name, taken);
  const secret = `${row.singular}-${name}`;
  return { name, secret, spec: specOf(draft, engineRef, secret) };
}

function without(
  objects: ReadonlyMap<string, MetadataObject>,
  hidden: ReadonlySet<string>,
): ReadonlyMap<string, MetadataObject> {
  return new Map([...objects].filter(([key]) => !hidden.has(key)));
}

/** Returns the names of the values in a document that an operator stores, by Secret and key. */
function storedValues(metadata: Metadata): ReadonlyMap<string, string> {
  return new Map(
    variablesIn(Metadata, metadata).flatMap(({ name: reference }) => {
      const { from, name } = parseReference(reference);
      const secret = from === 'value' ? secretOfValue(name) : undefined;
      return secret ? [[`${secret.name}/${secret.key}`, name] as const] : [];
    }),
  );
}

/** Returns the value of a source: a text of the Secret that belongs to the resource, or the name under which a value is stored. */
function valueIn(
  { env, file, secretKeyRef }: ValueSource,
  {
    secret,
    secrets,
    values,
  }: Pick<Named, 'secret'> & Pick<Known, 'values'> & { readonly secrets: Readonly<Record<string, string>> },
): MetadataValue {
  if (env !== undefined) return { from_env: env };
  if (file !== undefined) return { from_file: file };
  const { name = '', key = '' } = secretKeyRef ?? {};
  const stored = name === secret ? undefined : values.get(`${name}/${key}`);
  return stored === undefined ? (secrets[key] ?? '') : { from_value: stored };
}

/** The most characters of one bundle. The limit of API servers for one object is higher. */
const MOST_BUNDLE_CHARACTERS = 500_000;

function bundlesOf(objects: readonly MetadataObject[], engineRef: object): readonly DescribedResource[] {
  const bundles: { readonly key: string; readonly definition: unknown }[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const { key, definition } of objects) {
    const length = stableJson(definition).length;
    if (size + length > MOST_BUNDLE_CHARACTERS || bundles.at(-1)?.length === MOST_ITEMS) {
      bundles.push([]);
      size = 0;
    }
    bundles.at(-1)?.push({ key, definition });
    size += length;
  }
  return bundles.map((items, i) => ({
    kind: kindOf('MetadataBundle')!.kind,
    name: i === 0 ? 'rest' : `rest-${i + 1}`,
    spec: { engineRef, objects: items },
  }));
}

/** Returns a name that is valid in Kubernetes and not taken; the second `author` becomes `author-2`. */
function freeName(text: string, taken: ReadonlySet<string>): string {
  const plain = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 50);
  const name = plain.replaceAll(/^-+|-+$/g, '') || 'unnamed';
  let free = name;
  for (let count = 2; taken.has(free); count++) free = `${name}-${count}`;
  return free;
}
