/** Tests least privilege: the requests of the operator, by the audit log of the API server, are exactly those that the chart grants.
 *  Not here: the effects of these requests (operator.kube.test.ts), the chart's other objects (deploy/chart/templates.test.ts). */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { EVERY_KIND } from '../../testing/examples.ts';
import { describeHelm } from '../../testing/helm.ts';
import { type AuditEntry, describeKube, type KubeObject, pathOf, type TestKube } from '../../testing/kube.ts';
import { GROUP_VERSION, KINDS } from '../kinds.ts';
import { createRig, HOME, type Rig, readyOf, tokenOf } from './testing/rig.ts';
import { rightsOf } from './testing/rights.ts';

/** The name of the Secret as the chart gives it to the operator. */
const VALUES_KEY = 'pergola-values-key';

const ACCOUNT = `system:serviceaccount:${HOME}:pergola-operator`;
/** Verbs of requests that name one object, for resources that are granted by name. */
const NAMING = ['get', 'update'];
const NAMED = ['leases', 'namespaces'];

type Rule = {
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
};

/** Generous, because the machine may be busy. */
const PATIENCE_MS = 120_000;

await describeKube('the rights of the chart', (kube) => {
  describeHelm('as helm renders them', (helm) => {
    test(
      'an operator of all namespaces uses all its rights and needs no others',
      async () => {
        await compare(kube(), await rightsOf(helm, {}), [], []);
      },
      PATIENCE_MS,
    );

    test(
      'an operator of some namespaces uses all its rights and needs no others except to read the cluster name',
      async () => {
        const rights = await rightsOf(helm, { operator: { watchNamespaces: [HOME] } });
        await compare(
          kube(),
          rights,
          ['--watch-namespaces', HOME],
          ['get customresourcedefinitions', 'get namespaces kube-system'],
        );
      },
      PATIENCE_MS,
    );

    test(
      'a missing right is reported where it is needed, and no object is deleted',
      async () => {
        const rights = (await rightsOf(helm, {})).map((right) => withoutResource(right, 'secrets'));
        await withOperator(kube(), rights, [], async (rig) => {
          const { message } = await rig.ready('Engine', 'main', 'SecretNotFound');
          expect(message).toContain('cannot list resource "secrets"');
        });
      },
      PATIENCE_MS,
    );
  });
});

async function compare(
  kube: TestKube,
  rights: readonly KubeObject[],
  flags: readonly string[],
  refused: readonly string[],
): Promise<void> {
  const before = (await kube.audit()).length;
  await withOperator(kube, rights, flags, async (rig) => {
    const files = globSync('*.yaml', { cwd: EVERY_KIND }).filter((file) => file !== 'engine.yaml');
    await kube.kubectl(['apply', '-n', HOME, ...files.flatMap((file) => ['-f', join(EVERY_KIND, file)])]);
    await turnTwice(rig);
    // The operator asks for the definitions of deleted resources.
    const [deleted] = await rig.all('InheritedRole');
    await rig.remove('InheritedRole', deleted!.metadata.name);
    await vi.waitFor(
      async () => {
        const asked = (await kube.audit()).slice(before).filter(({ user }) => user.username === ACCOUNT);
        const isDenied = ({ responseStatus }: AuditEntry) => responseStatus?.code === 403;
        const allowed = asked.filter((entry) => !isDenied(entry));
        expect(distinct(allowed.map(requestOf))).toEqual(distinct(rights.flatMap(grantsOf)));
        expect(distinct(asked.filter(isDenied).map(requestOf))).toEqual(refused);
      },
      { timeout: 60_000, interval: 200 },
    );
  });
}

/** Repeats a transition, so that its Event is sent a second time. */
async function turnTwice(rig: Rig): Promise<void> {
  const [role] = await rig.all('InheritedRole');
  for (const suspend of [true, false, true]) {
    const spec = { ...role!.spec, suspend };
    const { apiVersion, kind, metadata } = role!;
    const { name, namespace } = metadata;
    await rig.kube.apply({ apiVersion, kind, metadata: { name, namespace }, spec });
    await vi.waitFor(
      async () => {
        const { reason } = readyOf((await rig.get(kind, name)).status) ?? {};
        expect(reason === 'Paused').toBe(suspend);
      },
      { timeout: 30_000, interval: 50 },
    );
  }
}

/** Runs `body` with an operator in a clean cluster, and cleans up afterwards. */
async function withOperator(
  kube: TestKube,
  rights: readonly KubeObject[],
  flags: readonly string[],
  body: (rig: Rig) => Promise<void>,
): Promise<void> {
  const rig = await createRig(kube, '', async () => {
    await kube.apply(...rights);
    return tokenOf(kube, 'pergola-operator');
  });
  try {
    await rig.startOperator(['--values-key-secret', VALUES_KEY, ...flags]);
    await body(rig);
  } finally {
    await rig.close();
    await kube.request('DELETE', `/api/v1/namespaces/${HOME}/secrets/${VALUES_KEY}`);
    for (const right of rights) await kube.request('DELETE', pathOf(right));
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${HOME}/leases`;
    const kinds = KINDS.map(({ plural }) => `/apis/${GROUP_VERSION}/namespaces/${HOME}/${plural}`);
    for (const collection of [leases, ...kinds]) await kube.request('DELETE', collection);
  }
}

/** Returns a request as text, such as `patch tables/status` or `get leases pergola-operator`. */
function requestOf({ verb, objectRef }: AuditEntry): string {
  const { resource = '', subresource, name } = objectRef ?? {};
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  return NAMING.includes(verb) && NAMED.includes(what) ? `${verb} ${what} ${name}` : `${verb} ${what}`;
}

/** Returns the requests that a role grants, in the same form; a star stands for every kind of Pergola. Definitions have no name in it. */
function grantsOf({ rules = [] }: KubeObject & { readonly rules?: readonly Rule[] }): readonly string[] {
  return rules.flatMap(({ resources, verbs, resourceNames }) =>
    resources
      .flatMap((resource) => KINDS.map(({ plural }) => resource.replace('*', plural)))
      .flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`))
      .flatMap((grant) =>
        resourceNames && NAMED.some((named) => grant.endsWith(named))
          ? resourceNames.map((name) => `${grant} ${name}`)
          : [grant],
      ),
  );
}

function withoutResource(right: KubeObject & { readonly rules?: readonly Rule[] }, gone: string): KubeObject {
  if (right.rules === undefined) return right;
  const rules = right.rules
    .map((rule) => ({ ...rule, resources: rule.resources.filter((resource) => resource !== gone) }))
    .filter(({ resources }) => resources.length > 0);
  return { ...right, rules };
}

function distinct(lines: readonly string[]): readonly string[] {
  return [...new Set(lines)].sort();
}
