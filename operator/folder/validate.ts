/** Validates manifests without an engine and without a cluster: everything that the API server and the operator refuse because of the
 *  resources alone, with the same messages. In: the content of a folder. Out: problems with file, line and path.
 *  Not here: what depends on a database, an engine or a cluster: missing tables, Secrets, rights. */
import { migrationsIn } from '@pergola/engine/migrations';
import { desire } from '../decide/desired.ts';
import { engineKeyOf, type NamespaceFacts } from '../grants/default-engine.ts';
import { exceededLimit, issuesOf, oldFormHint } from '../kinds/validate.ts';
import { type CustomResource, contentOf, kindOf, purposeOf } from '../kinds.ts';
import { declaredFilesOf, isMigration } from '../migrations/run-migrations.ts';
import { DEFAULT_POLICIES, type ReconcileOptions } from '../ports/options.ts';
import type { ResourceOutcome } from '../ports/verdict.ts';
import { keysIn, lookup, resourceOf } from './folder-source.ts';
import type { FileProblem, FolderContent, Manifest } from './read-folder.ts';

export type FolderValidation = {
  readonly resources: number;
  readonly problems: readonly FileProblem[];
  /** The resources that could not be checked as a whole, because they refer to a Secret or ConfigMap that the folder does not have, or
   *  to an artifact. */
  readonly unchecked: readonly string[];
};

/** Outcomes that are not errors of the text: the cluster may have what is missing here. */
const LATER: ReadonlySet<ResourceOutcome['reason']> = new Set([
  'SecretNotFound',
  'DependencyNotReady',
  'Paused',
]);

const OPTIONS: ReconcileOptions = {
  manager: 'validate',
  policies: DEFAULT_POLICIES,
  progressDeadlineSeconds: 0,
};

const NOT_DOWNLOADED = 'spec.ociArtifact is not downloaded, and its files are not checked';

export function validate(content: FolderContent): FolderValidation {
  const all = [...content.manifests, ...content.spoilt];
  const broken = new Map(all.map((manifest) => [manifest, issuesIn(manifest)]));
  // Of two resources with one name, which is a problem of its own, the first is checked.
  const distinct = [...new Map(all.toReversed().map((manifest) => [nameOf(manifest), manifest])).values()];
  const sound = distinct.filter(
    (manifest) => broken.get(manifest)!.length === 0 && purposeOf(manifest) !== 'engine',
  );
  const meanings = [...Map.groupBy(sound, engineOf(all))].flatMap(([, same]) => meaningOf(same, content));
  const later = meanings.filter(({ outcome }) => LATER.has(outcome.reason));
  const wrong = meanings.filter(({ outcome }) => !LATER.has(outcome.reason));
  return {
    resources: all.length,
    problems: [
      ...content.problems,
      ...[...broken.values()].flat(),
      ...wrong.map(({ manifest, outcome }) => problemAt(manifest, outcome.message)),
      ...sound.flatMap((manifest) => sqlProblems(manifest, content)),
    ].toSorted(byPosition),
    unchecked: [
      ...later
        .filter(({ outcome }) => outcome.reason !== 'Paused')
        .map(({ manifest, outcome }) => `${manifest.position}: ${nameOf(manifest)}: ${outcome.message}`),
      ...sound
        .filter((manifest) => contentOf(manifest) === 'artifact')
        .map((manifest) => `${manifest.position}: ${nameOf(manifest)}: ${NOT_DOWNLOADED}`),
    ],
  };
}

/** Returns the problems of a resource by itself: unknown and missing fields, wrong values, broken rules, names. */
function issuesIn(manifest: Manifest): readonly FileProblem[] {
  const { kind, spec, positionOf } = manifest;
  const excess = exceededLimit(spec);
  if (excess) return [problemAt(manifest, `spec ${excess}`)];
  const row = kindOf(kind)!;
  const issues = issuesOf(row, spec);
  const hint = issues.length > 0 ? oldFormHint(row, spec) : undefined;
  return [
    ...nameProblems(manifest),
    ...issues.map(({ path, text }) => ({
      position: positionOf(['spec', ...path]),
      message: `${nameOf(manifest)}: ${text}`,
    })),
    ...(hint === undefined ? [] : [problemAt(manifest, hint)]),
  ];
}

/** The names that Kubernetes accepts: RFC 1123. */
const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function nameProblems(manifest: Manifest): readonly FileProblem[] {
  const { name, namespace, positionOf } = manifest;
  const problem = (field: string, value: string) => ({
    position: positionOf(['metadata', field]),
    message: `${nameOf(manifest)}: metadata.${field} must consist of lower-case letters, digits, "-" and, in a name, ".", and is ${JSON.stringify(value)}`,
  });
  return [
    ...(name.length <= 253 && SUBDOMAIN.test(name) ? [] : [problem('name', name)]),
    ...(LABEL.test(namespace) ? [] : [problem('namespace', namespace)]),
  ];
}

type Meaning = { readonly manifest: Manifest; readonly outcome: ResourceOutcome };

/** Returns the outcomes of resources of one engine that have a problem: specs that cannot be translated, and conflicts. */
function meaningOf(manifests: readonly Manifest[], content: FolderContent): readonly Meaning[] {
  const byUid = new Map<string, Manifest>();
  const resources: CustomResource[] = manifests.map((manifest) => {
    const cr = resourceOf(manifest, 1);
    byUid.set(cr.metadata.uid, manifest);
    return cr;
  });
  const snapshot = {
    at: new Date(0),
    resources,
    isComplete: true,
    references: {
      secret: lookup(content.secrets),
      configMap: lookup(content.configMaps),
      secretKeys: keysIn(content.secrets),
      configMapKeys: keysIn(content.configMaps),
      isFiles: true,
    },
  };
  const ledger = { manager: OPTIONS.manager, objects: new Map() };
  const { outcomes } = desire(snapshot, ledger, new Map(), OPTIONS);
  return [...outcomes].map(([uid, outcome]) => ({ manifest: byUid.get(uid)!, outcome }));
}

/** Returns the problems of the files of a Migration that do not depend on what has run: names, versions, statements that cannot run in a
 *  file. A file of an artifact, or of a ConfigMap that the folder does not have, is not checked. */
function sqlProblems(manifest: Manifest, { configMaps }: FolderContent): readonly FileProblem[] {
  const cr = resourceOf(manifest, 1);
  if (!isMigration(cr)) return [];
  const references = {
    secret: () => undefined,
    configMap: lookup(configMaps),
    configMapKeys: keysIn(configMaps),
  };
  const files = (declaredFilesOf({ references }, cr) ?? []).filter(({ sql }) => sql !== '');
  const { problems, contentProblems } = migrationsIn(files.map(({ name, sql }) => ({ name, text: sql })));
  return [...problems, ...[...contentProblems.values()].flat()].map((text) => problemAt(manifest, text));
}

/** Returns a function from a manifest to the key of its Engine, as far as the folder tells. Objects of different engines do not conflict. */
function engineOf(manifests: readonly Manifest[]): (manifest: Manifest) => string {
  const engines = Map.groupBy(
    manifests.filter((manifest) => purposeOf(manifest) === 'engine'),
    ({ namespace }) => namespace,
  );
  const facts: NamespaceFacts = {
    defaultEngineOf: () => undefined,
    enginesIn: (namespace) => (engines.get(namespace) ?? []).map(({ name }) => name),
  };
  return (manifest) => engineKeyOf(resourceOf(manifest, 1), facts);
}

/** Returns a problem at the field that the message begins with, else at the resource. */
function problemAt(manifest: Manifest, message: string): FileProblem {
  const [, at] = /^spec((?:\.\w+|\[\d+\])+)/.exec(message) ?? [];
  const path = at === undefined ? undefined : ['spec', ...at.split(/[.[\]]+/).filter((step) => step !== '')];
  const position = path ? manifest.positionOf(path) : manifest.position;
  return { position, message: `${nameOf(manifest)}: ${message}` };
}

function nameOf({ kind, namespace, name }: Manifest): string {
  return `${kind} ${namespace}/${name}`;
}

/** Orders by file, then by line. */
function byPosition(a: FileProblem, b: FileProblem): number {
  const [fileA, lineA] = split(a.position);
  const [fileB, lineB] = split(b.position);
  return fileA === fileB ? lineA - lineB : fileA < fileB ? -1 : 1;
}

function split(position: string): readonly [string, number] {
  const [, file = position, line = '0'] = /^(.*):(\d+)$/.exec(position) ?? [];
  return [file, Number(line)];
}
