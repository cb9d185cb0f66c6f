/** Keeps the resources of every kind and the labels of namespaces in memory by watches. A change marks the engine of the resource, since
 *  passes are per engine.
 *  Not here: Secrets (references.ts), one collection (reflector.ts). */
import { isSameJson } from '@pergola/engine/metadata';
import {
  DEFAULT_ENGINE_ANNOTATION,
  engineKeyOf,
  isUnboundKey,
  missingEngineText,
  type NamespaceFacts,
} from '../grants/default-engine.ts';
import { droppedFields } from '../kinds/dropped-fields.ts';
import {
  API_GROUP,
  API_VERSION,
  type CustomResource,
  crName,
  KINDS,
  type KindRow,
  purposeOf,
} from '../kinds.ts';
import { conditionOf } from '../status/conditions.ts';
import type { Definitions } from './definitions.ts';
import { isDeleting } from './deletion.ts';
import { type KubeObject, Reflector, type ReflectorCounts } from './reflector.ts';
import type { Timers } from './timers.ts';
import type { Transport } from './transport.ts';

export type ClusterOptions = {
  readonly transport: Transport;
  readonly timers: Timers;
  readonly definitions: Definitions;
  /** The namespaces to watch. Empty means all. */
  readonly namespaces: readonly string[];
  /** Called with the `namespace/name` of an Engine, which need not exist, when the Engine or a resource bound to it changed. */
  readonly onChange: (engine: string, change: EngineChange) => void;
  /** Called when another kind is in sync or its definition was found missing. */
  readonly onSettled: () => void;
  readonly onProblem: (path: string, problem: Error) => void;
};

/** A change that concerns an Engine: of itself, or an edit of an existing resource; neither for created and deleted resources. */
export type EngineChange = { readonly isItself?: boolean; readonly isEdit?: boolean };

/** The command that installs the definitions. */
const INSTALL =
  'helm template pergola-crds charts/pergola-crds | kubectl apply --server-side --force-conflicts -f -';

type Stored = CustomResource & KubeObject;

export class Cluster {
  readonly #options: ClusterOptions;
  readonly #kinds: ReadonlyMap<string, readonly Reflector<Stored>[]>;
  readonly #namespaces: Reflector<KubeObject> | undefined;
  /** The resources by engine, cached until something changes: an engine is checked every few seconds. */
  #grouped: Grouped | undefined;
  /** The Engines of each namespace and its annotation, cached until one of them changes. */
  #facts: Facts | undefined;

  constructor(options: ClusterOptions) {
    this.#options = options;
    const scopes = options.namespaces.length === 0 ? [undefined] : options.namespaces;
    this.#kinds = new Map(
      KINDS.map((row: KindRow) => [row.kind, scopes.map((scope) => this.#reflectorOf(row, scope))]),
    );
    // An operator of some namespaces may not list namespaces, so grants by label cannot be checked.
    this.#namespaces = options.namespaces.length === 0 ? this.#namespaceReflector() : undefined;
  }

  start(): void {
    for (const reflector of this.#all()) reflector.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all().map((reflector) => reflector.stop()));
  }

  /** True when every collection is in sync. */
  get isSynced(): boolean {
    return this.#all().every(({ isSynced, isAbsent }) => isSynced && !isAbsent);
  }

  /** True when every collection is in sync or its definition is missing. When the kind Engine is missing there is nothing to do. */
  get isSettled(): boolean {
    const engines: readonly Reflector<Stored>[] = this.#kinds.get('Engine')!;
    return (
      engines.every(({ isSynced }) => isSynced) &&
      this.#all().every(({ isSynced, isAbsent }) => isSynced || isAbsent)
    );
  }

  /** Lists every collection again. Resolves when the cache is no older than the call. */
  async refresh(): Promise<void> {
    await Promise.all(this.#all().map((reflector) => reflector.refresh()));
  }

  /** The reasons why collections are not in sync or their watches fail. Missing definitions come first. */
  get problems(): readonly string[] {
    const all = this.#all();
    const missing = new Set(all.filter(({ isAbsent }) => isAbsent).map(({ path }) => definitionAt(path)));
    const others = all.flatMap(({ path, problem, isAbsent }) =>
      problem === undefined || isAbsent ? [] : [`${path}: ${problem.message}`],
    );
    return [...(missing.size === 0 ? [] : [missingText([...missing])]), ...others];
  }

  get counts(): ReflectorCounts {
    const counts = this.#all().map((reflector) => reflector.counts);
    const sum = (field: keyof ReflectorCounts) => counts.reduce((total, one) => total + one[field], 0);
    return { lists: sum('lists'), watches: sum('watches'), failures: sum('failures') };
  }

  /** Returns the Engine; undefined when it does not exist. */
  engine(key: string): CustomResource | undefined {
    return this.#kinds
      .get('Engine')!
      .map(({ objects }) => objects.get(key))
      .find(Boolean);
  }

  /** Returns the resources of an engine, except Engines and those being deleted. The result is identical until one of them changes. */
  resourcesOf(engine: string): readonly CustomResource[] {
    return this.#boundTo(engine).active;
  }

  /** Returns the resources of an engine that are being deleted. */
  deletingOf(engine: string): readonly CustomResource[] {
    return this.#boundTo(engine).deleting;
  }

  /** Returns the keys of all Engines and of all engines that resources refer to. */
  engineKeys(): ReadonlySet<string> {
    const engines = this.#kinds.get('Engine')!.flatMap(({ objects }) => [...objects.keys()]);
    return new Set([...engines, ...this.#byEngine().keys()]);
  }

  /** Returns the key of the Engine of a resource. The name in it is empty when the resource has none. */
  engineOf(cr: CustomResource): string {
    return engineKeyOf(cr, this.#namespaceFacts());
  }

  /** Returns why the resources with this engine key have no Engine. */
  missingEngineText(key: string): string {
    return missingEngineText(key, this.#namespaceFacts());
  }

  /** Returns the names of the resources without an Engine. Engines keep the objects that they own. */
  get unbound(): ReadonlySet<string> {
    return this.#groups().unbound;
  }

  /** Returns the labels of a namespace; undefined when the namespace is unknown. */
  labelsOf(namespace: string): Readonly<Record<string, string>> | undefined {
    const found = this.#namespaces?.objects.get(namespace);
    return found && (found.metadata.labels ?? {});
  }

  /** True when the operator watches the namespace. */
  sees(namespace: string): boolean {
    const { namespaces } = this.#options;
    return namespaces.length === 0 || namespaces.includes(namespace);
  }

  /** True when the operator watches the labels of namespaces. */
  get seesNamespaces(): boolean {
    return this.#namespaces !== undefined;
  }

  /** Updates the cache with the answer of the API server to a status write. */
  accept(cr: CustomResource, object: KubeObject): void {
    for (const reflector of this.#kinds.get(cr.kind) ?? []) reflector.accept(object as Stored);
  }

  #all(): readonly Reflector<never>[] {
    const kinds = [...this.#kinds.values()].flat();
    return (this.#namespaces
      ? [...kinds, this.#namespaces]
      : kinds) as unknown as readonly Reflector<never>[];
  }

  #boundTo(engine: string): EngineResources {
    return this.#byEngine().get(engine) ?? NOTHING;
  }

  #byEngine(): ReadonlyMap<string, EngineResources> {
    return this.#groups().byEngine;
  }

  #groups(): Grouped {
    const reflectors = [...this.#kinds].flatMap(([kind, scopes]) =>
      purposeOf({ kind }) === 'engine' ? [] : scopes,
    );
    const revision = reflectors.reduce((sum, reflector) => sum + reflector.revision, 0);
    const facts = this.#namespaceFacts();
    if (this.#grouped?.revision !== revision || this.#grouped.facts !== facts) {
      const resources = reflectors.flatMap(({ objects }) => [...objects.values()]);
      const grouped = [...Map.groupBy(resources, (cr) => engineKeyOf(cr, facts))];
      const byEngine = new Map(grouped.map(([key, bound]) => [key, engineResourcesOf(bound)]));
      const unbound = grouped.filter(([key]) => isUnboundKey(key)).flatMap(([, crs]) => crs.map(crName));
      this.#grouped = { revision, facts, byEngine, unbound: new Set(unbound) };
    }
    return this.#grouped;
  }

  /** Returns the facts about namespaces. They are identical until an Engine is created or deleted or an annotation changes. */
  #namespaceFacts(): Facts {
    const engines: readonly Reflector<Stored>[] = this.#kinds.get('Engine')!;
    const namespaces = this.#namespaces;
    const revision = engines.reduce((sum, reflector) => sum + reflector.revision, namespaces?.revision ?? 0);
    if (this.#facts?.revision === revision) return this.#facts;
    const keys = engines.flatMap(({ objects }) => [...objects.keys()]).toSorted();
    const annotations = [...(namespaces?.objects.values() ?? [])].flatMap((namespace) => {
      const value = defaultEngineIn(namespace);
      return value === undefined ? [] : [[namespace.metadata.name, value] as const];
    });
    const content = JSON.stringify([keys, annotations]);
    if (this.#facts?.content === content) this.#facts.revision = revision;
    else this.#facts = factsOf(keys, new Map(annotations), { revision, content });
    return this.#facts;
  }

  #reflectorOf({ plural, purpose }: KindRow, namespace: string | undefined): Reflector<Stored> {
    const { onChange, definitions } = this.#options;
    const scope = namespace === undefined ? '' : `/namespaces/${namespace}`;
    const isEngine = purpose === 'engine';
    const notify = (cr: Stored | undefined, isEdit: boolean) =>
      cr && onChange(isEngine ? nameOf(cr) : this.engineOf(cr), { isItself: isEngine, isEdit });
    return this.#reflector<Stored>(
      `/apis/${API_GROUP}/${API_VERSION}${scope}/${plural}`,
      isSameResource,
      (before, after) => {
        const isEdit = before !== undefined && after !== undefined;
        if (!before) definitions.noteCreated(after!);
        else if (!after) definitions.noteDeleted(before);
        notify(before, isEdit);
        notify(after, isEdit);
        // Resources without engineRef may have another Engine now.
        if (isEngine && !isEdit) this.#markNamespace((before ?? after)!.metadata.namespace);
      },
      (objects, isAbsent) => definitions.notePresence(objects.values(), isAbsent),
    );
  }

  #markNamespace(namespace: string): void {
    for (const key of this.engineKeys()) if (key.startsWith(`${namespace}/`)) this.#options.onChange(key, {});
  }

  #namespaceReflector(): Reflector<KubeObject> {
    const isSame = (a: KubeObject, b: KubeObject) =>
      isSameJson(a.metadata.labels ?? {}, b.metadata.labels ?? {}) &&
      defaultEngineIn(a) === defaultEngineIn(b);
    return this.#reflector('/api/v1/namespaces', isSame, (before, after) => {
      // A created namespace needs no mark: its resources mark their engines. New labels and deletions may change consent; an annotation
      // may give resources another Engine.
      if (!before && !(after && defaultEngineIn(after) !== undefined)) return;
      for (const key of this.engineKeys()) this.#options.onChange(key, {});
    });
  }

  #reflector<T extends KubeObject>(
    path: string,
    isSame: (before: T, after: T) => boolean,
    onChange: (before: T | undefined, after: T | undefined) => void,
    onPresence?: (objects: ReadonlyMap<string, T>, isAbsent: boolean) => void,
  ): Reflector<T> {
    const { transport, timers, onSettled, onProblem } = this.#options;
    const reflector: Reflector<T> = new Reflector<T>({
      transport,
      timers,
      path,
      isSame,
      summarise: droppedFields,
      onChange,
      onSettled: () => {
        onPresence?.(reflector.objects, reflector.isAbsent);
        onSettled();
      },
      onProblem: (problem) => {
        if (reflector.isAbsent) onPresence?.(reflector.objects, true);
        onProblem(path, reflector.isAbsent ? new Error(missingText([definitionAt(path)])) : problem);
      },
    });
    return reflector;
  }
}

type EngineResources = {
  readonly active: readonly CustomResource[];
  readonly deleting: readonly CustomResource[];
};

const NOTHING: EngineResources = { active: [], deleting: [] };

function engineResourcesOf(resources: readonly CustomResource[]): EngineResources {
  return { active: resources.filter((cr) => !isDeleting(cr)), deleting: resources.filter(isDeleting) };
}

/** Returns the name of the definition: `/apis/pergola.dev/v1alpha1/tables` → `tables.pergola.dev`. */
function definitionAt(path: string): string {
  return `${path.slice(path.lastIndexOf('/') + 1)}.${API_GROUP}`;
}

function missingText(definitions: readonly string[]): string {
  const are = definitions.length === 1 ? 'this definition is' : 'these definitions are';
  return (
    `${are} missing: ${definitions.join(', ')}; until they are there nothing is deleted from engines without a confirmation. ` +
    `Install them with: ${INSTALL}`
  );
}

/** True when neither the spec nor an annotation changed, nor the operators of an Engine, and the status says no less than before. Other
 *  status writes must not mark an engine. */
function isSameResource(before: Stored, after: Stored): boolean {
  return (
    leasesOf(before) === leasesOf(after) &&
    readyGenerationOf(after) >= readyGenerationOf(before) &&
    before.metadata.generation === after.metadata.generation &&
    isSameJson(before.metadata.annotations ?? {}, after.metadata.annotations ?? {})
  );
}

/** Returns the generation that the condition Ready is about. Another client may have removed the condition, or written an older one. */
function readyGenerationOf(cr: Stored): number {
  return conditionOf(cr, 'Ready')?.observedGeneration ?? 0;
}

function leasesOf({ status }: Stored): string {
  return (status?.operators ?? []).map(({ lease }) => lease).join();
}

type Grouped = {
  readonly revision: number;
  readonly facts: Facts;
  readonly byEngine: ReadonlyMap<string, EngineResources>;
  readonly unbound: ReadonlySet<string>;
};

type Facts = NamespaceFacts & { revision: number; readonly content: string };

function factsOf(
  keys: readonly string[],
  annotations: ReadonlyMap<string, string>,
  version: Pick<Facts, 'revision' | 'content'>,
): Facts {
  const engines = Map.groupBy(keys, (key) => key.slice(0, key.indexOf('/')));
  return {
    ...version,
    defaultEngineOf: (namespace) => annotations.get(namespace),
    enginesIn: (namespace) => (engines.get(namespace) ?? []).map((key) => key.slice(key.indexOf('/') + 1)),
  };
}

function defaultEngineIn({ metadata }: KubeObject): string | undefined {
  return metadata.annotations?.[DEFAULT_ENGINE_ANNOTATION];
}

function nameOf({ metadata }: CustomResource): string {
  return `${metadata.namespace}/${metadata.name}`;
}
