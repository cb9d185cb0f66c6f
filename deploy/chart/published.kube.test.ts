/** Tests the objects of the chart whose kinds belong to other projects against the definitions that these publish, in a real API server, which
 *  refuses fields that a definition does not have. Not here: where the definitions come from (testing/kube/published.ts). */
import { loadAll } from 'js-yaml';
import { expect, test } from 'vitest';
import { describeHelm, type Rendered } from '../../testing/helm.ts';
import { publishedDefinitions } from '../../testing/kube/published.ts';
import { describeKube, type KubeObject } from '../../testing/kube.ts';

const KINDS = ['HTTPRoute', 'PrometheusRule', 'ServiceMonitor'];
const LABELS = { release: 'prometheus' };
const VALUES = {
  engine: {
    httpRoute: {
      enabled: true,
      parentRefs: [{ name: 'public', namespace: 'gateways', sectionName: 'https' }],
      hostnames: ['api.example.org', '*.example.org'],
      paths: ['/v1/graphql', '/api/rest'],
      annotations: { team: 'a' },
    },
  },
  metrics: {
    enabled: true,
    secret: { existingSecret: 'pergola-metrics' },
    serviceMonitor: { enabled: true, interval: '15s', labels: LABELS },
    rules: { enabled: true, labels: LABELS },
  },
};

const definitions = await publishedDefinitions();

await describeKube('the chart and published definitions', (kube) => {
  describeHelm('with helm', (helm) => {
    const published = definitions === undefined ? test.skip : test;
    const reason = definitions === undefined ? ' (skipped: Go cannot download the definitions)' : '';

    published(`each object is accepted, and one with an unknown field is refused${reason}`, async () => {
      await kube().kubectl(['apply', '--server-side', '-f', '-'], definitions!.join('\n---\n'));
      const names = definitions!
        .flatMap((text) => loadAll(text) as readonly KubeObject[])
        .map(({ metadata }) => metadata.name);
      await kube().kubectl(['wait', '--for=condition=Established', ...names.map((name) => `crd/${name}`)]);
      const objects = (await helm.template(VALUES)).filter(({ kind }) => KINDS.includes(kind));
      expect(objects.map(({ kind }) => kind).toSorted()).toEqual([...KINDS, 'ServiceMonitor']);
      for (const { metadata, ...object } of objects as readonly Rendered[]) {
        const named = { ...object, metadata: { ...metadata, namespace: 'default' } };
        await kube().apply(named);
        const wrong = { ...named, spec: { ...object.spec, more: 1 } };
        await expect(kube().apply(wrong), object.kind).rejects.toThrow(/more/);
      }
    });
  });
});
