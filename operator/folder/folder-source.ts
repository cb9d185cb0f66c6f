/** Files of resources as a source and a sink of statuses. It keeps in memory what an API server would store: statuses, and
 *  generations, which increase when a spec changes. The uid of a resource is its kind and name, so it survives restarts.
 *  Not here: reading files (read-inputs.ts). */

import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { own } from '@pergola/engine/metadata';
import { artifactRequestOf } from '../artifacts/artifact-request.ts';
import { ArtifactStore } from '../artifacts/artifact-store.ts';
import { download } from '../artifacts/download.ts';
import { CONFIRM_CHANGE_ANNOTATION } from '../decide/pending-change.ts';
import { consentOf } from '../grants/consent.ts';
import { problemsOf } from '../kinds/validate.ts';
import { type CrStatus, type CustomResource, GROUP_VERSION, kindOf, purposeOf } from '../kinds.ts';
import { shortHash, stableJson } from '../objects/normal-form.ts';
import { systemClock } from '../pass/clock.ts';
import type { Consent } from '../ports/consent.ts';
import type { ArtifactAnswer } from '../ports/migrations.ts';
import { DEFAULT_POLICIES, type Policies } from '../ports/options.ts';
import type { CrSnapshot, CrSource, ReferenceLookup } from '../ports/resources.ts';
import type { StatusChange, StatusSink } from '../ports/statuses.ts';
import type { FileProblem, FolderContent, Manifest } from './read-folder.ts';
import { readInputs } from './read-inputs.ts';

/** The options that an Engine document in the folder sets. */
export type FolderEngine = {
  readonly policies: Policies;
  /** The annotation of the Engine document that confirms changes. */
  readonly confirmChange?: string | undefined;
};

export class FolderSource implements CrSource, StatusSink {
  /** Folders, files, and `-` for standard input. */
  readonly inputs: readonly string[];
  /** The problems of the files in the last snapshot. */
  problems: readonly FileProblem[] = [];
  /** The number of resources that the last snapshot lacks because of these problems, by file. */
  unread: ReadonlyMap<string, number> = new Map();
  engine: FolderEngine = { policies: DEFAULT_POLICIES };
  /** The file and line of each resource, by `Kind namespace/name`. */
  positions: ReadonlyMap<string, string> = new Map();
  readonly #artifacts = new FolderArtifacts();
  readonly #statuses = new Map<string, CrStatus>();
  readonly #generations = new Map<string, { readonly hash: string; readonly generation: number }>();

  constructor(...inputs: readonly string[]) {
    this.inputs = inputs;
  }

  /** Throws when an input itself cannot be read. */
  async snapshot(): Promise<CrSnapshot> {
    const content = await readInputs(this.inputs);
    const engines = content.manifests.filter((manifest) => purposeOf(manifest) === 'engine');
    const others = content.manifests.filter((manifest) => purposeOf(manifest) !== 'engine');
    this.problems = [...content.problems, ...problemsOfEngines(engines)];
    this.unread = content.unread;
    // An Engine document that cannot be read now may have had policies.
    if (engines.length > 0 || content.problems.length === 0) this.engine = engineOf(engines);
    this.positions = new Map(others.map((manifest) => [nameOf(manifest), manifest.position]));
    const references: ReferenceLookup = {
      secret: lookup(content.secrets),
      configMap: lookup(content.configMaps),
      secretKeys: keysIn(content.secrets),
      configMapKeys: keysIn(content.configMaps),
      isFiles: true,
    };
    const resources = others.map((manifest) => this.#resourceOf(manifest));
    return {
      at: systemClock.now(),
      resources,
      reportedConsent: reportedConsent(engines, resources),
      // An Engine document with a problem may say how much may be deleted.
      isComplete: this.problems.length === 0,
      references,
      artifact: (cr) => this.#artifacts.artifactOf(cr, references),
    };
  }

  async publish(changes: readonly StatusChange[]): Promise<number> {
    for (const { cr, status } of changes) this.#statuses.set(cr.metadata.uid, status);
    return 0;
  }

  #resourceOf(manifest: Manifest): CustomResource {
    const uid = nameOf(manifest);
    const status = this.#statuses.get(uid);
    return { ...resourceOf(manifest, this.#generationOf(uid, manifest)), ...(status ? { status } : {}) };
  }

  #generationOf(uid: string, { spec }: Manifest): number {
    const hash = shortHash(stableJson(spec));
    const known = this.#generations.get(uid);
    const generation = known === undefined ? 1 : known.generation + (known.hash === hash ? 0 : 1);
    this.#generations.set(uid, { hash, generation });
    return generation;
  }
}

/** Returns a resource as an API server would, without its status. */
export function resourceOf(manifest: Manifest, generation: number): CustomResource {
  const { kind, name, namespace, annotations, spec } = manifest;
  return {
    apiVersion: GROUP_VERSION,
    kind,
    metadata: {
      name,
      namespace,
      uid: nameOf(manifest),
      generation,
      // Files have no age, so the smaller uid wins a key, independent of the order of files, and the ledger has no time of creation.
      creationTimestamp: '',
      annotations,
    },
    spec,
  };
}

function nameOf({ kind, namespace, name }: Manifest): string {
  return `${kind} ${namespace}/${name}`;
}

/** Returns a function that looks up values of Secrets or ConfigMaps of the folder. */
export function lookup(holders: FolderContent['secrets']): ReferenceLookup['secret'] {
  return (namespace, name, key) => {
    const value = own(holders.get(`${namespace}/${name}`), key);
    return value === undefined ? undefined : String(value);
  };
}

/** Returns the look-up of the keys of ConfigMaps. */
export function keysIn(holders: FolderContent['configMaps']): NonNullable<ReferenceLookup['configMapKeys']> {
  return (namespace, name) => {
    const holder = holders.get(`${namespace}/${name}`);
    return holder && Object.keys(holder);
  };
}

function problemsOfEngines(engines: readonly Manifest[]): readonly FileProblem[] {
  const [first, ...others] = engines;
  const problems = engines.flatMap(({ position, spec }) =>
    // The command line provides the endpoint.
    problemsOf(kindOf('Engine')!, { endpoint: { url: 'http://folder' }, ...spec }).map((message) => ({
      position,
      message,
    })),
  );
  const extra = others.map(({ position }) => ({
    position,
    message: `a folder describes one engine, and ${first!.position} is one; keep one of them`,
  }));
  return [...problems, ...extra];
}

/** Returns the consent of the only Engine document; undefined when an answer would depend on labels of namespaces. */
function reportedConsent(
  [engine, ...others]: readonly Manifest[],
  resources: readonly CustomResource[],
): Consent | undefined {
  if (!engine || others.length > 0 || problemsOfEngines([engine]).length > 0) return undefined;
  const namespaces = new Set(resources.map(({ metadata }) => metadata.namespace));
  const consent = consentOf(resourceOf(engine, 1), namespaces, undefined);
  return consent.isCertain ? consent : undefined;
}

function engineOf([first]: readonly Manifest[]): FolderEngine {
  const given = (first?.spec ?? {}) as {
    readonly policies?: Partial<Policies> & { readonly pruneGuard?: Partial<Policies['pruneGuard']> };
  };
  return {
    confirmChange: first?.annotations[CONFIRM_CHANGE_ANNOTATION],
    policies: {
      ...DEFAULT_POLICIES,
      ...given.policies,
      pruneGuard: { ...DEFAULT_POLICIES.pruneGuard, ...given.policies?.pruneGuard },
    },
  };
}

/** The age at which a tag is compared again, by commands that continue. */
const MAX_AGE_MS = 540_000;
/** The user chose the folder, so its registries may be anywhere, also on this machine. */
const POLICY = { hosts: ['*'], allowsLoopback: true };

/** The artifacts of the Migrations of a folder. A command waits for them. Without a Secret in the folder, the credentials are those of the
 *  Docker client of the user (`docker login`), as far as its configuration contains them. */
class FolderArtifacts {
  readonly #store = new ArtifactStore({
    nowMs: () => performance.now(),
    download: (request, given) => download(request, { ...given, policy: POLICY }),
  });

  async artifactOf(cr: CustomResource, references: ReferenceLookup): Promise<ArtifactAnswer> {
    const request = artifactRequestOf(cr, references, await dockerConfig());
    if ('reason' in request) return request;
    return this.#store.settled({ group: '', uid: cr.metadata.uid, request, maxAgeMs: MAX_AGE_MS, nudge: '' });
  }
}

/** Returns the configuration of the Docker client; undefined when there is none. */
async function dockerConfig(): Promise<string | undefined> {
  const folder = process.env['DOCKER_CONFIG'] || join(homedir(), '.docker');
  try {
    return await readFile(join(folder, 'config.json'), 'utf8');
  } catch {
    return undefined;
  }
}
