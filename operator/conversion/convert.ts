/** Converts resources of the old form to the new form, in documents of any kind: single resources, lists as `kubectl get -o yaml` prints
 *  them, and patches with some of the fields. Documents of other API groups, and what is already new, are returned unchanged.
 *  Pure. Not here: the steps of each kind (conversions.ts), files (../commands/convert.ts). */
import { isRecord } from '@pergola/engine/metadata';
import { CONVERSIONS } from './conversions.ts';
import { type Fields, set, without } from './steps.ts';

const GROUP = 'pergola.dev/';
/** The annotation in which `kubectl apply` keeps what it applied: the old form. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
/** The fields of metadata that the API server sets. A stale resourceVersion would make applying the document a conflict. */
const SERVER_FIELDS = [
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'managedFields',
  'selfLink',
];

/** A note for the user about a resource: `Engine main: spec.allowLiteralSecrets is removed: …`. */
export type Converted = { readonly document: unknown; readonly notes: readonly string[] };

/** Returns the document in the new form. It is the same value when nothing has changed. */
export function convertDocument(document: unknown): Converted {
  if (!isRecord(document)) return { document, notes: [] };
  if (isList(document)) return convertList(document);
  if (!String(document['apiVersion'] ?? '').startsWith(GROUP)) return { document, notes: [] };
  return convertResource(document);
}

/** Returns the spec in the new form; the same value when nothing has changed. */
export function convertSpec(
  kind: string,
  spec: Fields,
  note: (path: string, text: string) => void = () => {},
): Fields {
  const step = Object.hasOwn(CONVERSIONS, kind) ? CONVERSIONS[kind] : undefined;
  const converted = step?.(spec, note) ?? spec;
  return JSON.stringify(converted) === JSON.stringify(spec) ? spec : converted;
}

/** True when the spec has fields of the old form. */
export function hasOldForm(kind: string, spec: Fields): boolean {
  return convertSpec(kind, spec) !== spec;
}

function isList(document: Fields): boolean {
  return String(document['kind'] ?? '').endsWith('List') && Array.isArray(document['items']);
}

function convertList(list: Fields): Converted {
  const items = (list['items'] as readonly unknown[]).map(convertDocument);
  const notes = items.flatMap((item) => item.notes);
  const converted = items.map(({ document }) => document);
  const isSame = converted.every((item, i) => item === (list['items'] as readonly unknown[])[i]);
  return { document: isSame ? list : set(list, 'items', converted), notes };
}

function convertResource(resource: Fields): Converted {
  const { kind, spec } = resource;
  const metadata = isRecord(resource['metadata']) ? resource['metadata'] : {};
  const notes: string[] = [];
  const name = `${String(kind)} ${String(metadata['name'] ?? '(without a name)')}`;
  const converted = isRecord(spec)
    ? convertSpec(String(kind), spec, (path, text) => notes.push(`${name}: spec.${path} ${text}`))
    : spec;
  const stored = 'uid' in metadata ? withoutServerFields(resource, metadata) : resource;
  const document = converted === spec ? stored : set(stored, 'spec', converted);
  return { document, notes };
}

/** Returns a resource read from an API server as a manifest: without what the API server and the operator set. */
function withoutServerFields(resource: Fields, metadata: Fields): Fields {
  const kept = without(metadata, ...SERVER_FIELDS);
  const annotations = isRecord(kept['annotations']) ? without(kept['annotations'], LAST_APPLIED) : undefined;
  const isEmpty = annotations === undefined || Object.keys(annotations).length === 0;
  const own = isEmpty ? without(kept, 'annotations') : set(kept, 'annotations', annotations);
  return set(without(resource, 'status'), 'metadata', own);
}
