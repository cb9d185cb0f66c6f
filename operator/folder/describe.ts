/** Describes metadata as resources, the inverse of a pass, for `import` and `export --as crs`. The description is complete: each resource
 *  is translated and compared with the original objects, and objects that no kind can express become part of a MetadataBundle.
 *  In: a document. Out: resources without a namespace, and their Secrets. Pure. Not here: files (folder/write-folder.ts). */
import {
  EngineError,
  isRecord,
  type Metadata,
  type MetadataObject,
  type ObjectKind,
  objectsOf,
  parseJson,
} from '@pergola/engine/metadata';
import { MOST_ITEMS } from '../kinds/annotate.ts';
import {
  type Inventory,
  type KindRow,
  type ResourceDraft,
  SpecProblem,
  type ValueSource,
} from '../kinds/kind.ts';
import { problemsOf } from '../kinds/validate.ts';
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
  const inventory = inventoryOf(objects);
  const resources: DescribedResource[] = [];
  const secrets: DescribedSecret[] = [];
  const left = new Set(objects.keys());
  for (const row of KINDS as readonly KindRow[]) {
    const nameOf = namer();
    for (const draft of row.describe?.(inventory) ?? []) {
      const name = nameOf(draft.name);
      const secret = `${row.singular}-${name}`;
      const spec = specOf(draft, engineRef, secret);
      const keys = translatedKeys(row, spec, draft.secrets ?? {}, hashes);
      if (!keys?.every((key) => left.has(key))) continue;
      for (const key of keys) left.delete(key);
      resources.push({ kind: row.kind, name, spec });
      if (draft.secrets && Object.keys(draft.secrets).length > 0) {
        secrets.push({ name: secret, values: draft.secrets });
      }
    }
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

/** Returns the keys of the objects the spec translates to; undefined when they differ from the objects it was created from. */
function translatedKeys(
  row: KindRow,
  spec: DescribedResource['spec'],
  secrets: Readonly<Record<string, string>>,
  hashes: ReadonlyMap<string, string>,
): readonly string[] | undefined {
  if (problemsOf(row, spec).length > 0) return undefined;
  try {
    const translated = row
      .translate(spec, { valueFrom: (source) => valueIn(source, secrets) })
      .map(normalised);
    return translated.every((object) => hashes.get(object.key) === hashOf(object))
      ? translated.map(({ key }) => key)
      : undefined;
  } catch (error) {
    if (error instanceof SpecProblem || error instanceof EngineError) return undefined;
    throw error;
  }
}

function valueIn({ env, file, secretKeyRef }: ValueSource, secrets: Readonly<Record<string, string>>) {
  if (env !== undefined) return { from_env: env };
  if (file !== undefined) return { from_file: file };
  return secrets[secretKeyRef?.key ?? ''] ?? '';
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

/** Returns a function that creates unique names valid in Kubernetes; the second `author` becomes `author-2`. */
function namer(): (text: string) => string {
  const taken = new Set<string>();
  return (text) => {
    const plain = text
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .slice(0, 50);
    const name = plain.replaceAll(/^-+|-+$/g, '') || 'unnamed';
    let free = name;
    for (let count = 2; taken.has(free); count++) free = `${name}-${count}`;
    taken.add(free);
    return free;
  };
}
