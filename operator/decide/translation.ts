/** The spec of a resource → the metadata objects that it declares, or why there are none. Translations of specs without references to Secrets and
 *  ConfigMaps are kept.
 *  In: a resource, its kind, the options of the engine. Out: objects in normal form with their hashes, or an outcome. Pure but for what is kept.
 *  The values of Secrets are collected, and sent to the engine before the objects.
 *  Not here: the rules of a kind (kinds/), sending values (pass/values.ts), reading Secrets and ConfigMaps (kubernetes/references.ts), which
 *  resource gets an object (desired.ts). */
import { checkConnections } from '@pergola/engine/connections';
import {
  canonicalPrefix,
  EngineError,
  isSameJson,
  keyOfDefinition,
  type MetadataObject,
  printPath,
  type Source,
  withPath,
} from '@pergola/engine/metadata';
import { IdentityCache } from '../identity-cache.ts';
import { fieldIn } from '../kinds/field.ts';
import { type KindRow, SpecProblem, type TranslateContext, type ValueSource } from '../kinds/kind.ts';
import { missingKeyText } from '../kinds/missing-key.ts';
import { exceededLimit, problemsOf } from '../kinds/validate.ts';
import { type CustomResource, contentOf, kindOf } from '../kinds.ts';
import { hashOf, hashOfLive, isKept, normalised, printKey, printOf } from '../objects/normal-form.ts';
import { valueName } from '../objects/value-name.ts';
import type { ReconcileOptions } from '../ports/options.ts';
import type { CrSnapshot } from '../ports/resources.ts';
import type { ResourceOutcome } from '../ports/verdict.ts';

/** The most characters of one object. A larger one is a mistake in the resource, and every read of the engine would contain it. */
const MOST_FRAGMENT_CHARACTERS = 262_144;
/** The most characters of all objects of a resource together. Every write that changes them contains them. */
const MOST_RESOURCE_CHARACTERS = 8_388_608;

export type TranslatedObject = {
  /** The object in normal form. */
  readonly object: MetadataObject;
  readonly hash: string;
};

/** The objects of a spec, or why there are none. `isMalformed` outcomes are reported even for a paused resource. */
type Translation = readonly TranslatedObject[] | (ResourceOutcome & { readonly isMalformed?: boolean });

/** The translations of specs that refer to no Secret and no ConfigMap, for engines with a prefix of session variables. */
const translations = new IdentityCache<
  CustomResource['spec'],
  { readonly prefix: string | undefined; readonly translation: Translation }
>();

/** True when the spec was translated before and refers to no Secret, ConfigMap or artifact: it translates to the same again. */
export function isSelfContained(cr: CustomResource): boolean {
  return translations.peek(cr.spec) !== undefined && contentOf(cr) === undefined;
}

/** The specs that `translateInSlices` has translated. */
const prepared = new WeakSet<CustomResource['spec']>();

/** The number of resources that are translated without a pause: some 10 ms. */
const SLICE = 100;

/** Translates new resources ahead of the decisions, which are one computation. Calls `pause` after each slice. */
export async function translateInSlices(
  snapshot: CrSnapshot,
  live: ReadonlyMap<string, MetadataObject>,
  options: ReconcileOptions,
  pause: () => Promise<void>,
): Promise<void> {
  let fresh = 0;
  for (const cr of snapshot.resources) {
    const row = kindOf(cr.kind);
    if (!row || prepared.has(cr.spec)) continue;
    prepared.add(cr.spec);
    translationOf(cr, row, snapshot, options, { live });
    if (++fresh % SLICE === 0) await pause();
  }
}

/** Returns the keys of the objects a resource translates to, whether or not it may own them. */
export function keysClaimedBy(
  cr: CustomResource,
  snapshot: CrSnapshot,
  options: ReconcileOptions,
): readonly string[] {
  const row = kindOf(cr.kind);
  const translation = row ? translationOf(cr, row, snapshot, options) : [];
  return 'reason' in translation ? [] : translation.map(({ object }) => object.key);
}

export function translationOf(
  cr: CustomResource,
  row: KindRow,
  snapshot: CrSnapshot,
  options: ReconcileOptions,
  {
    values = new Map(),
    live = NO_OBJECTS,
  }: { readonly values?: Map<string, string>; readonly live?: ReadonlyMap<string, MetadataObject> } = {},
): Translation {
  const { headerPrefix: prefix } = options;
  const known = translations.peek(cr.spec);
  if (known && known.prefix === prefix) return known.translation;
  const { valueFrom } = contextOf(cr, snapshot, options, values);
  let isIndependent = true;
  const context: TranslateContext = {
    valueFrom: (source, path) => {
      isIndependent = false;
      return valueFrom(source, path);
    },
  };
  const translation = sharedWith(live, translateSpec(cr, row, context, prefix));
  if (isIndependent) translations.set(cr.spec, { prefix, translation });
  return translation;
}

const NO_OBJECTS: ReadonlyMap<string, MetadataObject> = new Map();

/** Returns the translation with the engine's object in place of each one that equals it: both would stay in memory after a restart. */
function sharedWith(live: ReadonlyMap<string, MetadataObject>, translation: Translation): Translation {
  if ('reason' in translation) return translation;
  return translation.map(({ object, hash }) => {
    const own = live.get(object.key);
    const isSame = own?.parent === object.parent && isSameJson(own.definition, object.definition);
    return isSame ? { object: own, hash: hashOfLive(own, object) } : { object, hash };
  });
}

function translateSpec(
  cr: CustomResource,
  row: KindRow,
  context: TranslateContext,
  prefix: string | undefined,
): Translation {
  const excess = exceededLimit(cr.spec);
  if (excess) return { reason: 'InvalidSpec', message: `spec ${excess}`, isMalformed: true };
  try {
    const problems = problemsOf(row, cr.spec);
    if (problems.length > 0)
      return { reason: 'InvalidSpec', message: problems.join('; '), isMalformed: true };
    const translated = row.translate(cr.spec, context);
    const checked = translated.map((object) => checkedObject(withPrefix(object, prefix), cr));
    const objects = distinct(checked).filter(isKept);
    const printed = objects.map((object) => ({ object, ...printOf(object) }));
    const tooLarge = oversizeOf(printed);
    if (tooLarge) return { reason: 'InvalidSpec', message: tooLarge };
    return printed.map(({ object, hash }) => ({ object, hash }));
  } catch (error) {
    return problemOf(error);
  }
}

type PrintedObject = { readonly object: MetadataObject; readonly length: number };

function oversizeOf(objects: readonly PrintedObject[]): string | undefined {
  let total = 0;
  for (const { object, length } of objects) {
    if (length > MOST_FRAGMENT_CHARACTERS) return `${printKey(object.key)} is larger than 256 KiB`;
    total += length;
  }
  return total > MOST_RESOURCE_CHARACTERS
    ? 'the objects of the resource are larger than 8 MiB together; divide it into several resources'
    : undefined;
}

/** Returns the object with its session variables spelled as the engine's document has them. */
function withPrefix(object: MetadataObject, prefix = 'x-engine-'): MetadataObject {
  return {
    ...object,
    definition: canonicalPrefix(object.definition, prefix) as MetadataObject['definition'],
  };
}

/** Returns the object in normal form. Throws SpecProblem for an object that the engine would not store: it would reject the whole write,
 *  with the changes of all other resources. */
function checkedObject(object: MetadataObject, cr: CustomResource): MetadataObject {
  try {
    const normal = normalised(object);
    const actual = keyOfDefinition(object.key, normal.definition);
    if (actual !== object.key) {
      throw new SpecProblem(
        'InvalidSpec',
        `${printKey(object.key)}: the definition is that of ${printKey(actual)} (key ${actual}), not of key ${object.key}`,
      );
    }
    if (normal.kind === 'source') {
      withPath('configuration', () => checkConnections((normal.definition as Source).configuration));
    }
    return normal;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    const field = fieldIn(cr, object, error.path);
    throw new SpecProblem('InvalidSpec', `${printKey(object.key)}${field}: ${error.messageIn('newer')}`);
  }
}

/** Removes duplicates: documents of one bundle may define the same object. Throws SpecProblem when the definitions differ. */
function distinct(objects: readonly MetadataObject[]): readonly MetadataObject[] {
  const byKey = new Map<string, MetadataObject>();
  for (const object of objects) {
    const other = byKey.get(object.key);
    if (other && hashOf(other) !== hashOf(object)) {
      const message = `${printKey(object.key)} is there twice, and different; remove one of them`;
      throw new SpecProblem('InvalidSpec', message);
    }
    byKey.set(object.key, object);
  }
  return [...byKey.values()];
}

/** Returns the outcome for an error in one resource, so that no such error ends the pass over all resources. */
function problemOf(error: unknown): ResourceOutcome {
  if (error instanceof SpecProblem) return { reason: error.reason, message: error.message };
  if (error instanceof EngineError) {
    return { reason: 'InvalidSpec', message: `${error.messageIn('newer')} at ${printPath(error.path)}` };
  }
  return { reason: 'InvalidSpec', message: `the spec cannot be read: ${error}` };
}

/** The most characters of a value that an engine stores. */
const MOST_VALUE_CHARACTERS = 65_536;

/** `values` receives the values of Secrets, which the metadata refers to by name. */
function contextOf(
  cr: CustomResource,
  snapshot: CrSnapshot,
  options: ReconcileOptions,
  values: Map<string, string>,
): TranslateContext {
  return {
    valueFrom: (source: ValueSource, path: string) => {
      if (source.env !== undefined) return { from_env: source.env };
      if (source.file !== undefined) return { from_file: source.file };
      if (source.configMapKeyRef) return configMapValue(cr, source.configMapKeyRef, path, snapshot);
      const { name = '', key = '' } = source.secretKeyRef ?? {};
      const { namespace } = cr.metadata;
      const value = snapshot.references.secret(namespace, name, key);
      const what = `key ${key} of Secret ${namespace}/${name}`;
      if (value === undefined) {
        const missing = missingKeyText({ kind: 'Secret', namespace, name, key }, snapshot.references);
        throw new SpecProblem('SecretNotFound', `${path}.secretKeyRef: ${missing}`);
      }
      if (value === '' || value.length > MOST_VALUE_CHARACTERS) {
        const problem = value === '' ? 'is empty' : `has more than ${MOST_VALUE_CHARACTERS} characters`;
        throw new SpecProblem('InvalidSpec', `${path}.secretKeyRef: ${what} ${problem}`);
      }
      const stored = valueName({ namespace, name, key, manager: options.manager });
      values.set(stored, value);
      return { from_value: stored };
    },
  };
}

function configMapValue(
  { metadata: { namespace } }: CustomResource,
  { name, key }: { readonly name: string; readonly key: string },
  path: string,
  { references }: CrSnapshot,
): string {
  const value = references.configMap(namespace, name, key);
  if (value !== undefined) return value;
  const missing = missingKeyText({ kind: 'ConfigMap', namespace, name, key }, references);
  throw new SpecProblem('DependencyNotReady', `${path}.configMapKeyRef: ${missing}`);
}
