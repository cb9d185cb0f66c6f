/** The resources as their authors wrote them, without secrets (kinds/without-secrets.ts), of which only the operator knows. Stored with the ledger,
 *  so that the console of the engine can show their YAML. Written only when a resource changes, and bounded.
 *  Pure. In: the stored state, the resources of a pass. Out: records, and patches of them. */
import { IdentityCache } from '../identity-cache.ts';
import { exceededLimit } from '../kinds/validate.ts';
import { specWithoutSecrets } from '../kinds/without-secrets.ts';
import { API_GROUP, type CustomResource, crName, kindOf } from '../kinds.ts';
import { recordsIn } from './stored-records.ts';

export type ManifestRecord = {
  readonly manager: string;
  /** The manifest as JSON, which a merge of JSON replaces as a whole. Empty when it is too long to be stored. */
  readonly manifest: string;
};

/** Records by resource, as `Kind namespace/name`. */
export type StoredManifests = ReadonlyMap<string, ManifestRecord>;

export type ManifestsPatch = Readonly<Record<string, ManifestRecord | null>>;

/** The most characters of a manifest. */
export const MOST_MANIFEST_CHARACTERS = 20_000;
/** The most characters of all manifests of an engine. */
const MOST_CHARACTERS = 16_000_000;
/** The most records of an engine. */
const MOST_RECORDS = 20_000;
/** The most characters of one write, beside the objects that it changes. */
const MOST_WRITTEN = 500_000;

/** Reads the records from the stored state. Invalid ones are left out. */
export function readManifests(state: unknown): StoredManifests {
  return recordsIn<ManifestRecord>(state, 'manifests', ['manager', 'manifest']);
}

/** Returns the changes that resources make to the records of a manager. */
export function manifestChanges(
  resources: readonly CustomResource[],
  before: StoredManifests,
  {
    manager,
    exists,
  }: {
    readonly manager: string;
    /** False for names of resources that are known to be deleted. */
    readonly exists: (name: string) => boolean;
  },
): ManifestsPatch {
  const changes: Record<string, ManifestRecord | null> = {};
  for (const [name, record] of before) {
    if (record.manager === manager && !exists(name)) changes[name] = null;
  }
  const changed = resources.filter((cr) => {
    const known = before.get(crName(cr));
    // Two clusters may have resources of one name: they would replace each other's record in turn.
    return known ? known.manager === manager && known.manifest !== manifestOf(cr) : true;
  });
  if (changed.length === 0) return changes;
  const kept = [...before].filter(([name]) => changes[name] !== null);
  let records = MOST_RECORDS - kept.length;
  let characters = MOST_CHARACTERS - kept.reduce((sum, [, { manifest }]) => sum + manifest.length, 0);
  for (const cr of changed) {
    const name = crName(cr);
    const known = before.get(name);
    if (!known && records-- <= 0) continue;
    characters += known?.manifest.length ?? 0;
    const whole = manifestOf(cr);
    const manifest = whole.length > characters ? '' : whole;
    characters -= manifest.length;
    if (known?.manifest !== manifest) changes[name] = { manager, manifest };
  }
  return changes;
}

/** The number of specs whose text is computed without a pause: some 10 ms. */
const SLICE = 100;

/** Computes the texts of new specs ahead of `manifestChanges`, which is one computation. Calls `pause` after each slice. */
export async function prepareManifests(
  resources: readonly CustomResource[],
  pause: () => Promise<void>,
): Promise<void> {
  let fresh = 0;
  for (const { kind, spec } of resources) {
    if (specs.peek(spec) !== undefined) continue;
    specs.set(spec, specText(kind, spec));
    if (++fresh % SLICE === 0) await pause();
  }
}

/** Returns the changes in parts that one write can have each; one part when there is no change. */
export function manifestParts(changes: ManifestsPatch): readonly [ManifestsPatch, ...ManifestsPatch[]] {
  const [first, ...others]: Record<string, ManifestRecord | null>[] = [{}];
  let [part, left] = [first!, MOST_WRITTEN];
  for (const [name, record] of Object.entries(changes)) {
    const length = name.length + (record?.manifest.length ?? 0);
    if (length > left) {
      part = {};
      others.push(part);
      left = MOST_WRITTEN;
    }
    part[name] = record;
    left -= length;
  }
  return [first!, ...others];
}

/** Specs as JSON without secrets; empty for those that are too long. */
const specs = new IdentityCache<object, string>();

/** Returns the manifest as JSON, without the fields that Kubernetes sets, and with the annotations of this project alone; empty when it is too
 *  long. */
function manifestOf({ apiVersion, kind, metadata, spec }: CustomResource): string {
  const text = specs.get(spec, () => specText(kind, spec));
  if (text === '') return '';
  const own = Object.entries(metadata.annotations ?? {}).filter(([name]) => name.startsWith(`${API_GROUP}/`));
  const { name, namespace } = metadata;
  const annotations = own.length > 0 ? { annotations: Object.fromEntries(own) } : {};
  const head = JSON.stringify({ apiVersion, kind, metadata: { name, namespace, ...annotations } });
  return head.length + text.length > MOST_MANIFEST_CHARACTERS ? '' : `${head.slice(0, -1)},"spec":${text}}`;
}

function specText(kind: string, spec: CustomResource['spec']): string {
  const row = kindOf(kind);
  // Aliases of YAML may nest a value in itself.
  if (!row || exceededLimit(spec)) return '';
  const text = JSON.stringify(specWithoutSecrets(row.spec, spec));
  return text.length > MOST_MANIFEST_CHARACTERS ? '' : text;
}
