/** The shell blocks of documents that need an API server, and some that also need helm: with the objects, files and placeholders that each document
 *  supposes. Each document has a namespace of its own. No pod runs, so nothing waits for one.
 *  Not here: blocks that run on one machine (shell-worlds.ts), blocks that no test of this folder runs (not-run.ts). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ShellWorld } from './shell.ts';
import { CLONE } from './shell-blocks.ts';

const DRAFT = 'bin/init/golden/shop';

/** Texts of any document that stand for a path of the clone or the namespace of the document. */
export const IN_CLUSTER: Readonly<Record<string, string>> = {
  'charts/': '{clone}/charts/',
  'deploy/argocd/': '{clone}/deploy/argocd/',
  // The namespace exists already.
  'create namespace api': 'get namespace api',
  'namespace api': 'namespace {namespace}',
  'namespace: api': 'namespace: {namespace}',
  ' -n api': ' -n {namespace}',
};
/** The definitions are in the cluster already. */
const CHART = { 'helm install pergola': 'helm install pergola --set crds.enabled=false' };
/** Pods do not become ready. */
const NO_PODS = { ' --wait': '' };
const ENGINE = `apiVersion: pergola.dev/v1alpha1
kind: Engine
metadata: { name: main }
spec:
  endpoint: { service: { name: pergola-engine, port: 8080 } }
  adminSecretRef: { name: pergola-admin, key: admin-secret }
`;
const tableNamed = (name: string) => `---
apiVersion: pergola.dev/v1alpha1
kind: Table
metadata: { name: ${name} }
spec: { table: ${name} }
`;
const APPLY = 'kubectl apply -f objects.yaml';
const statusOf = (resource: string, status: object) =>
  `kubectl patch ${resource} --subresource=status --type=merge -p '${JSON.stringify({ status })}'`;
const condition = (type: string, reason: string, message = '') => ({
  conditions: [
    {
      type,
      status: 'True',
      observedGeneration: 1,
      reason,
      message,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ],
});
const secretNamed = (name: string, key: string, value: string) =>
  `kubectl create secret generic ${name} --from-literal=${key}=${value}`;

/** The kinds of Prometheus that the chart uses, without their fields. */
const MONITORING = ['ServiceMonitor', 'PrometheusRule']
  .map(
    (kind) => `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: ${kind.toLowerCase()}s.monitoring.coreos.com }
spec:
  group: monitoring.coreos.com
  scope: Namespaced
  names: { kind: ${kind}, plural: ${kind.toLowerCase()}s }
  versions:
    - name: v1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
`,
  )
  .join('');

export const CLUSTER_WORLDS: Readonly<Record<string, ShellWorld>> = {
  'charts/pergola-crds/README.md': {
    rows: [{ begins: 'helm upgrade', needs: ['helm'], prints: 'STATUS: deployed' }],
  },
  'README.md': {
    texts: { ...CHART, 'image.repository=…': 'image.repository=registry.example.org/pergola' },
    rows: [{ begins: 'helm install', needs: ['helm'], prints: 'STATUS: deployed' }],
  },
  'charts/pergola/README.md': {
    // A test of a release is a pod.
    texts: { ...CHART, ...NO_PODS, 'helm test': 'helm get manifest' },
    rows: [
      {
        begins: 'kubectl create namespace',
        needs: ['helm', 'openssl'],
        prints:
          /secret\/pergola-database created\nsecret\/pergola-admin created\n[\s\S]*STATUS: deployed[\s\S]*kind: Deployment/,
      },
    ],
  },
  [`${DRAFT}/resources/README.md`]: {
    sql: readFileSync(join(CLONE, DRAFT, 'schema.sql'), 'utf8'),
    tables: [],
    copy: `${DRAFT}/resources`,
    texts: {
      'https://…': '{engine}',
      // 2 says that something would change.
      '--admin-secret …          #': '--admin-secret {secret} || test $? = 2 #',
      '--admin-secret …': '--admin-secret {secret}',
    },
    rows: [
      {
        begins: 'pergola validate',
        prints:
          /\d+ resources, no problems\.[\s\S]*\d+ to create\.\n[\s\S]*tablepermission.pergola.dev\/\S+ created/,
      },
    ],
  },
  'docs/guides/concepts.md': {
    setUp: 'kubectl create namespace team-a',
    rows: [
      {
        begins: 'kubectl annotate',
        after: `kubectl get namespace team-a -o jsonpath='{.metadata.annotations}'`,
        prints: '{"pergola.dev/default-engine":"platform/main"}',
      },
    ],
  },
  'docs/guides/events.md': {
    files: { 'objects.yaml': 'block: apiVersion: pergola.dev/v1alpha1\nkind: ScheduledEvent' },
    setUp: `${APPLY}; ${statusOf('scheduledevent switch-over', condition('Delivered', 'Delivered'))}`,
    rows: [{ begins: 'kubectl wait', prints: 'scheduledevent.pergola.dev/switch-over condition met' }],
  },
  'docs/guides/gitops.md': {
    files: { 'objects.yaml': `${ENGINE}${tableNamed('author')}` },
    setUp: `${APPLY}; kubectl create namespace argocd; kubectl -n argocd create configmap argocd-cm
      ${statusOf('table author', { plan: ['+ table default/public/author'] })}`,
    rows: [
      {
        begins: 'kubectl -n argocd patch',
        after: 'kubectl -n argocd get configmap argocd-cm -o yaml',
        prints: 'resource.customizations',
      },
      {
        begins: 'kubectl annotate table author',
        after: 'kubectl get engine,table -o yaml',
        prints: /^\+ table default\/public\/author$[\s\S]*reconcile-now: "\d+"[\s\S]*pause-until: "20/m,
      },
      {
        begins: 'kubectl get pergola',
        needs: ['jq'],
        before: `kubectl patch table author --type=merge -p '{"metadata":{"finalizers":["pergola.dev/wait-for-deletion"]}}'`,
        after: `kubectl get table author -o jsonpath='finalizers: {.metadata.finalizers}'`,
        prints: /(table.pergola.dev\/author patched\n){2}finalizers:$/,
      },
    ],
  },
  'docs/guides/installing.md': {
    texts: { ...CHART, ...NO_PODS },
    env: { IMAGE: 'registry.example.org/pergola' },
    files: {
      'here/kustomization.yaml': 'block: apiVersion: kustomize.config.k8s.io/v1beta1',
      'monitoring.yaml': MONITORING,
    },
    setUp:
      'tar -czf pergola-manifests-{version}.tgz -C {clone} crds deploy/kustomize; kubectl apply -f monitoring.yaml',
    rows: [
      {
        begins: 'kubectl -n api create secret generic pergola-postgres',
        needs: ['helm', 'openssl'],
        prints: 'STATUS: deployed',
      },
      { begins: 'mkdir pergola', after: 'ls pergola/deploy/kustomize', prints: 'kustomization.yaml' },
      {
        begins: 'kubectl create namespace api   #',
        // The chart is in the other one.
        before:
          'kubectl create namespace {namespace}-k; cd here; sed -i s/{namespace}/{namespace}-k/ kustomization.yaml',
        after: 'kubectl -n {namespace}-k get deployments',
        prints: /^pergola-engine +0\/2/m,
      },
      {
        begins: 'kubectl -n api create secret generic pergola-metrics',
        needs: ['helm', 'openssl'],
        after: 'kubectl get servicemonitors,prometheusrules,configmaps -o name',
        prints: /REVISION: 2\n[\s\S]*servicemonitor[\s\S]*prometheusrule[\s\S]*configmap\/\S*dashboard/,
      },
    ],
  },
  'docs/guides/operating.md': {
    setUp: secretNamed('pergola-admin', 'admin-secret', 'old'),
    // The engine is not here to wait for.
    texts: { 'sleep 120': ':' },
    rows: [
      {
        begins: 'NEW=',
        needs: ['openssl'],
        after: `kubectl get secret pergola-admin -o go-template='{{range $key, $value := .data}}{{$key}}={{$value | base64decode}};{{end}}'; echo " $NEW"`,
        prints: /(secret\/pergola-admin patched\n){3}admin-secret=(\w{48});secondary-admin-secret=; \2$/,
      },
    ],
  },
  'docs/guides/reviewing-changes.md': {
    files: { 'objects.yaml': `${ENGINE}${tableNamed('document')}` },
    setUp: `${APPLY}; ${statusOf('engine main', { heldBack: [{ resource: 'Table document', hash: '6f1c', message: 'clients' }] })}`,
    rows: [
      {
        begins: 'kubectl annotate table document',
        after: `kubectl get engine main -o jsonpath='{.metadata.annotations}'`,
        prints: '"pergola.dev/confirm-change":"6f1c"',
      },
    ],
  },
  'docs/guides/secrets.md': {
    setUp: secretNamed('pergola-values-key', 'values-key', 'the-key'),
    rows: [{ begins: 'kubectl -n api get secret', prints: /^the-key$/ }],
  },
  'docs/guides/signing-in.md': {
    files: { 'jwt-secret.json': 'block: {\n  "jwk_url": "https://id.example.com/realms' },
    texts: {
      'helm upgrade pergola …': 'helm upgrade pergola charts/pergola --reset-then-reuse-values',
    },
    rows: [
      {
        begins: 'kubectl create secret',
        needs: ['helm'],
        before: 'helm install pergola {clone}/charts/pergola --set crds.enabled=false >/dev/null',
        after: 'kubectl get deployment pergola-engine -o yaml',
        prints:
          /ENGINE_GRAPHQL_JWT_SECRET\n +valueFrom:\n +secretKeyRef:\n +key: jwt-secret\n +name: pergola-jwt/,
      },
    ],
  },
  'docs/guides/tenants.md': {
    files: { 'objects.yaml': `${ENGINE}${tableNamed('author')}` },
    setUp: `${APPLY}; ${statusOf('table author', condition('GrantMissing', 'GrantMissing', 'the grant'))}`,
    rows: [
      {
        begins: 'kubectl annotate engine main',
        after: `kubectl get engine main -o jsonpath='{.metadata.annotations}'`,
        prints: '"pergola.dev/release-reserved":"team-a"',
      },
      { begins: 'kubectl get sources', needs: ['jq'], prints: /^\S+\/author: the grant$/m },
    ],
  },
  'docs/guides/troubleshooting.md': {
    tables: [{ table: { schema: 'public', name: 'missing' } }],
    files: { 'objects.yaml': tableNamed('book') },
    texts: { 'engine URL': 'engine {engine}' },
    setUp: `${APPLY}; ${statusOf('table book', condition('Ready', 'Accepted', 'it is served'))}`,
    rows: [{ begins: 'kubectl get pergola', prints: /book[\s\S]*Message: +it is served/ }],
  },
  'docs/guides/upgrading.md': {
    files: {
      'resources/objects.yaml': `${ENGINE}${tableNamed('author')}`,
      'overlays/production/kustomization.yaml': 'resources: [table.yaml]',
      'overlays/production/table.yaml': tableNamed('book'),
    },
    rows: [
      {
        begins: 'pergola validate',
        before: 'kustomize() { kubectl kustomize "$2"; }',
        prints: '',
      },
    ],
  },
};
