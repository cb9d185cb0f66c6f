/** Tests how an Engine resource is read: its address, its policies, its references. */
import { expect, test } from 'vitest';
import type { CustomResource } from '../kinds.ts';
import { resource } from '../testing/resources.ts';
import {
  adminSecretOf,
  authorityOf,
  reconcileOptionsOf,
  referencesOf,
  replicasOf,
  urlOf,
} from './engine-binding.ts';

const SERVICE = { endpoint: { service: { name: 'engine', port: 8080 } } };

function engine(spec: object, annotations: Readonly<Record<string, string>> = {}): CustomResource {
  return resource('Engine', 'main', { ...spec }, { namespace: 'api', annotations });
}

const source = (from: object) =>
  resource('Source', 'default', { connection: { url: from } }, { namespace: 'team' });

test.each([
  ['a URL', { endpoint: { url: 'https://a:1' } }, 'https://a:1'],
  ['a Service, in its own namespace', SERVICE, 'http://engine.api.svc:8080'],
  [
    'a Service elsewhere',
    { endpoint: { service: { name: 'e', namespace: 'n', port: 1 } } },
    'http://e.n.svc:1',
  ],
  [
    'a Service, with an authority',
    { ...SERVICE, tls: { caRef: { name: 'ca', key: 'k' } } },
    'https://engine.api.svc:8080',
  ],
])('the URL of the engine is derived from %s', (_, spec, url) => {
  expect(urlOf(engine(spec))).toBe(url);
});

test('replicas are found through a Service of their own, or are unknown', () => {
  const to = (replicas: object) => replicasOf(engine({ endpoint: { url: 'https://a', replicas } }));
  expect(to({ name: 'pods', port: 8080 })).toEqual({ host: 'pods.api.svc', port: 8080 });
  expect(to({ name: 'pods', namespace: 'n', port: 1 })).toEqual({ host: 'pods.n.svc', port: 1 });
  expect(replicasOf(engine(SERVICE))).toBeUndefined();
});

test('policies that are not set have defaults, including parts of the prune guard', () => {
  const spec = { ...SERVICE, policies: { drift: 'Report', pruneGuard: { maxObjects: 5 } } };
  const general = { manager: 'cluster/api/main', progressDeadlineSeconds: 300 };
  const made = reconcileOptionsOf(engine(spec, { 'pergola.dev/confirm-prune': 'abc' }), general);
  expect(made).toEqual({
    ...general,
    policies: {
      drift: 'Report',
      adoption: 'IfEqual',
      reservationMinutes: 10,
      revocationGraceMinutes: 10,
      pruneGuard: { maxObjects: 5, maxPercent: 30 },
    },
    confirmPrune: 'abc',
  });
});

test('the admin secret and the certificate authority are read from the namespace of the Engine', () => {
  const spec = {
    ...SERVICE,
    adminSecretRef: { name: 's', key: 'k' },
    tls: { caRef: { name: 'c', key: 'k' } },
  };
  expect(adminSecretOf(engine(spec))).toEqual({ kind: 'secrets', namespace: 'api', name: 's', key: 'k' });
  expect(authorityOf(engine(spec)).map(({ kind, namespace }) => `${kind} ${namespace}`)).toEqual([
    'configmaps api',
    'secrets api',
  ]);
});

test('Secrets that resources refer to are read in the namespace of the resource', () => {
  const resources = [source({ secretKeyRef: { name: 'db', key: 'url' } }), source({ env: 'PG_URL' })];
  expect(referencesOf(engine(SERVICE), resources)).toEqual([
    { kind: 'secrets', namespace: 'team', name: 'db' },
  ]);
});
