/** Tests how stored resources of the old form become those of the new form, for every old kind and every old field, with a real API server
 *  and the real engine: what `kubectl replace`, as Argo CD with `Replace=true` runs it, and server-side apply do with each of them.
 *  Each test continues from the state that the previous one left.
 *  Not here: what is served meanwhile (upgrade.kube.test.ts), the conversion (../conversion). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeKube, type KubeObject } from '../../testing/kube.ts';
import type { RemoteService } from '../../testing/remote.ts';
import { convertDocument } from '../conversion/convert.ts';
import { KINDS, type KindRow } from '../kinds.ts';
import { EVERY_KIND_SCHEMA, environmentFor, startBilling } from '../testing/every-kind.ts';
import { previousDefinitions, ROOT } from './testing/previous-definitions.ts';
import { createRig, HOME, type Rig } from './testing/rig.ts';

const OLD_FORM = join(ROOT, 'operator/conversion/old-form');
/** The namespace of every-option.yaml, whose resources refer to databases and services that do not exist. */
const OPTIONS = 'options';
/** Fields that are texts in the old form and objects in the new form, beside those in the files. */
const LITERALS: readonly KubeObject[] = [
  old('Source', 'literal', {
    name: 'literal',
    connection: { url: 'postgres://u@127.0.0.1:9/d' },
  }),
  old('RemoteSchema', 'literal', { name: 'literal', url: 'http://127.0.0.1:9' }),
];
const GUIDE = readFileSync(join(ROOT, 'docs/guides/upgrading.md'), 'utf8');

function old(kind: string, name: string, spec: object): KubeObject {
  const metadata = { name, namespace: OPTIONS };
  return {
    apiVersion: 'pergola.dev/v1alpha1',
    kind,
    metadata,
    spec: { engineRef: { name: 'main' }, ...spec },
  };
}

/** Returns the resources of old-form/: those of every-option.yaml in OPTIONS, all others in HOME, where they can become Ready. */
function oldResources(engine: Readonly<Record<string, unknown>>): readonly KubeObject[] {
  const inFiles = readdirSync(OLD_FORM).flatMap((file) => {
    const documents = loadAll(readFileSync(join(OLD_FORM, file), 'utf8')) as readonly (KubeObject | null)[];
    const namespace = file === 'every-option.yaml' ? OPTIONS : HOME;
    return documents
      .filter((document) => document !== null)
      .map((document) => ({ ...document, metadata: { ...document.metadata, namespace } }));
  });
  const { endpoint, adminSecretRef } = engine;
  return [...inFiles, ...LITERALS].map((resource: KubeObject) =>
    resource.kind === 'Engine'
      ? { ...resource, spec: { ...(resource['spec'] as object), endpoint, adminSecretRef } }
      : resource,
  );
}

const listOf = (items: readonly KubeObject[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
const isOurs = ({ apiVersion }: KubeObject) => apiVersion.startsWith('pergola.dev/');
const nameOf = ({ kind, metadata }: KubeObject) => `${kind} ${metadata.namespace}/${metadata.name}`;

await describeKube('an upgrade of every old kind', (kube) => {
  let rig: Rig;
  let billing: RemoteService;
  let stored: readonly KubeObject[];
  let converted: readonly KubeObject[];

  beforeAll(async () => {
    rig = await createRig(kube(), EVERY_KIND_SCHEMA);
    billing = await startBilling();
    await rig.stopEngine();
    const env = environmentFor(rig.database, billing);
    await rig.startEngine('first-secret', { env, enableAllowlist: true });
    await kube().apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: OPTIONS } });
    stored = oldResources((await rig.get('Engine', 'main')).spec);
    converted = stored.map((resource) => convertDocument(resource).document as KubeObject);
    await rig.remove('Engine', 'main');
    await kube().apply(...previousDefinitions().map(withoutSchema));
    await settled(() => kube().kubectl(['apply', '--validate=ignore', '-f', '-'], listOf(stored)));
    await kube().kubectl(['apply', '--server-side', '--force-conflicts', '-f', join(ROOT, 'crds/generated')]);
    await kube().kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s']);
    // The API server uses the new definitions once it cannot read the old form.
    const url = `${pathOf(LITERALS[1]!)}?fieldManager=probe&force=true&dryRun=All`;
    const probe = convertDocument(LITERALS[1]).document;
    await settled(async () => {
      const { body } = await kube().request('PATCH', url, probe, 'application/apply-patch+yaml');
      expect(body.message).toContain('failed to create typed live object');
    });
  }, 120_000);
  afterAll(async () => {
    await rig?.close();
    await billing?.close();
  }, 90_000);

  test('every kind that the previous definitions have is stored in the old form', () => {
    const kinds = new Set(stored.filter(isOurs).map(({ kind }) => kind));
    const previous = previousDefinitions().map((definition) => kindIn(definition));
    expect(previous.filter((kind) => !kinds.has(kind))).toEqual([]);
    expect(previous.length).toBeGreaterThan(15);
  });

  test('server-side apply is refused for the kinds that the guide names, with the field', async () => {
    const refused = new Map<string, string>();
    for (const resource of converted.filter(isOurs)) {
      const path = `${pathOf(resource)}?fieldManager=argocd-controller&force=true&dryRun=All`;
      const { status, body } = await kube().request('PATCH', path, resource, 'application/apply-patch+yaml');
      if (status >= 300) refused.set(nameOf(resource), body.message);
    }
    for (const message of refused.values()) {
      expect(message).toMatch(/failed to create typed live object[\s\S]*\.spec\.\S+: expected/);
    }
    const kinds = new Set([...refused.keys()].map((name) => name.split(' ', 1)[0]!));
    const named = /Server-side apply is refused for ([\s\S]*?)\./.exec(GUIDE)?.[1] ?? '';
    const expected = KINDS.map(({ kind }: KindRow) => kind).filter((kind) =>
      new RegExp(`\\b${kind}\\b`).test(named),
    );
    expect([...kinds].sort()).toEqual(expected.sort());
  }, 180_000);

  test('every resource can be replaced, and those whose services exist become Ready', async () => {
    await rig.startOperator();
    await replaced(listOf(converted));
    for (const resource of converted) {
      const { body } = await kube().request('GET', pathOf(resource));
      if (isOurs(resource))
        expect([nameOf(resource), body.spec]).toEqual([nameOf(resource), resource['spec']]);
    }
    for (const resource of converted.filter(isOurs)) {
      const { kind, metadata } = resource;
      if (metadata.namespace !== HOME) continue;
      // The guide says so: what had no effect in the previous release is reported now.
      const reason = kind === 'EngineSettings' ? 'NotEnforced' : 'Applied';
      await rig.ready(kind, metadata.name, reason);
    }
  }, 120_000);

  test('what was replaced can be applied by every client', async () => {
    await kube().apply(...converted);
    await kube().kubectl(['apply', '-f', '-'], listOf(converted));
  }, 180_000);

  /** Replaces the resources. kubectl reads the version of each resource first, so a status that the operator writes in between is a
   *  conflict, and the command is run again. */
  async function replaced(list: string): Promise<void> {
    await settled(async () => {
      const failure = await kube()
        .kubectl(['replace', '-f', '-'], list)
        .then(
          () => '',
          (error: unknown) => String(error),
        );
      if (failure.includes('the object has been modified')) throw new Error(failure);
      expect(failure).toBe('');
    });
  }

  /** Repeats until it succeeds: the API server serves a definition some time after it has been applied. */
  async function settled(act: () => Promise<unknown>): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await act();
        return;
      } catch (error) {
        if (tries === 40) throw error;
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
    }
  }
});

function pathOf({ kind, metadata }: KubeObject): string {
  const row = (KINDS as readonly KindRow[]).find((candidate) => candidate.kind === kind);
  const folder = row ? `/apis/pergola.dev/v1alpha1` : '/api/v1';
  return `${folder}/namespaces/${metadata.namespace}/${row?.plural ?? 'configmaps'}/${metadata.name}`;
}

function kindIn(definition: KubeObject): string {
  return (definition['spec'] as { readonly names: { readonly kind: string } }).names.kind;
}

/** Returns the definition for any fields, because the examples have fields of the old form that came after the previous release. */
function withoutSchema(definition: KubeObject): KubeObject {
  const spec = definition['spec'] as { readonly versions: readonly object[] };
  const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const openAPIV3Schema = { type: 'object', properties: { spec: anything, status: anything } };
  const loose = { schema: { openAPIV3Schema }, additionalPrinterColumns: [], selectableFields: [] };
  return {
    ...definition,
    spec: { ...spec, versions: spec.versions.map((version) => ({ ...version, ...loose })) },
  };
}
