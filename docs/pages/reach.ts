/** The places that fields of custom resources make the operator and the engine reach, and who decides: an ordered table, which the security guide
 *  prints. The rest of the guide stays as it is. `reachingFields` finds the fields in the schemas of KINDS: a new one fails a test until a row has it.
 *  Not here: the needs of an object (operator/grants/needs.ts), addresses (@pergola/engine/addresses). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TSchema } from '@pergola/engine/metadata';
import type { Dimension } from '../../operator/grants/needs.ts';
import { KINDS, type KindRow } from '../../operator/kinds.ts';
import { between } from './between.ts';
import { code, table } from './markdown.ts';

const GUIDE = join(import.meta.dirname, '../guides/security.md');

/** Returns the guide with the table between its two comments. */
export function securityGuide(): string {
  const rows = REACH.map(({ fields, reaches, another, home, tests }) => [
    fields.map(code).join(', '),
    reaches,
    another,
    home,
    tests.map(code).join(', '),
  ]);
  const head = [
    'field',
    'what it reaches',
    'from another namespace',
    'in the namespace of the Engine',
    'test',
  ];
  return between(readFileSync(GUIDE, 'utf8'), 'reach', table(head, rows));
}

type Reach = {
  /** The fields, as `KIND PATH`; `{a,b}` stands for each of them. */
  readonly fields: readonly string[];
  /** A sentence that says who reaches what. */
  readonly reaches: string;
  /** The field of a grant that covers an address, for resources of other namespaces. Absent: the field holds no address. */
  readonly address?: Dimension;
  /** The grant that another namespace needs. */
  readonly another: string;
  /** The limits in the namespace of the Engine. */
  readonly home: string;
  /** The tests of the row. */
  readonly tests: readonly string[];
};

const REACH_TEST = 'operator/grants/reach.test.ts';
const ADDRESS_TEST = 'engine/outgoing/addresses.test.ts';
/** The attacks that give refused addresses to the engine, and to the operator. */
const ENGINE_ATTACK = 'testing/attack/addresses.ts';
const OPERATOR_ATTACK = 'testing/attack/process-addresses.ts';
const VARIABLES = '`variables` for `env`, `file` and `{{NAME}}`; a Secret or ConfigMap of its own namespace';
const CONNECTIONS = '{connection,readReplicas[],connectionSet[]}';
const VALIDATION = [
  'Table spec.permissions[].{insert,update,delete}.validateInput',
  'TablePermission spec.{insert,update,delete}.validateInput',
];

export const REACH: readonly Reach[] = [
  {
    fields: ['Engine spec.{endpoint,endpoint.service,endpoint.url,endpoint.replicas}'],
    reaches: 'The operator sends requests with the admin secret to the host.',
    another: 'an Engine belongs to its own namespace',
    home: 'Kubernetes (`admin`), and `--engine-hosts` of the operator',
    tests: [
      'operator/kubernetes/engine-connections.test.ts',
      'operator/engine/client.test.ts',
      OPERATOR_ATTACK,
    ],
  },
  {
    fields: ['Engine spec.{adminSecretRef,tls.caRef}'],
    reaches: 'The operator reads a Secret or ConfigMap.',
    another: 'an Engine belongs to its own namespace',
    home: 'its own namespace only',
    tests: ['operator/kubernetes/engine-binding.test.ts', REACH_TEST],
  },
  {
    fields: [`Source spec.${CONNECTIONS}.{url,parameters.host}`],
    reaches: 'The engine connects to the host as a database, and reads files that the URL names.',
    address: 'databaseHosts',
    another: `\`databaseHosts\`, \`*\` for a URL in a Secret; ${VARIABLES}`,
    home: '`variables` for `env` and `file`',
    tests: [REACH_TEST, 'operator/grants/database-hosts.test.ts', ADDRESS_TEST, ENGINE_ATTACK],
  },
  {
    fields: [
      `Source spec.${CONNECTIONS}.{parameters.password,tls.rootCertificate,tls.certificate,tls.key,tls.keyPassword}`,
    ],
    reaches: 'The engine uses the value in the connection.',
    another: VARIABLES,
    home: '`variables` for `env` and `file`',
    tests: [REACH_TEST, 'operator/end-to-end/upgraded-grants.test.ts'],
  },
  {
    fields: [
      ...VALIDATION.map((path) => `${path}.url`),
      'RemoteSchema spec.url',
      'Action spec.handler',
      '{EventTrigger,CronTrigger,ScheduledEvent} spec.webhook',
      'EngineSettings spec.openTelemetry.{traces,metrics,logs}',
    ],
    reaches: 'The engine sends requests to the host.',
    address: 'webhookHosts',
    another: `\`webhookHosts\`, \`*\` for a URL in a Secret; ${VARIABLES}`,
    home: '`variables` for `env`, `file` and `{{NAME}}`',
    tests: [
      REACH_TEST,
      'operator/grants/grants.test.ts',
      ADDRESS_TEST,
      'engine/end-to-end/refused-addresses.test.ts',
      ENGINE_ATTACK,
    ],
  },
  {
    fields: ['{Action,EventTrigger,CronTrigger,ScheduledEvent} spec.requestTransform.url'],
    reaches: 'The engine sends the requests of the webhook there instead.',
    address: 'webhookHosts',
    another: '`webhookHosts`; `*` where a template may change the host',
    home: 'nothing more',
    tests: [REACH_TEST, 'operator/grants/grants.test.ts', ENGINE_ATTACK],
  },
  {
    fields: [
      ...VALIDATION.map((path) => `${path}.headers[]`),
      '{RemoteSchema,Action,EventTrigger,CronTrigger,ScheduledEvent} spec.headers[]',
      'EngineSettings spec.openTelemetry.headers[]',
    ],
    reaches: 'The engine sends the value to the host of the resource.',
    another: VARIABLES,
    home: '`variables` for `env`, `file` and `{{NAME}}`',
    tests: [REACH_TEST, 'engine/end-to-end/outbound-variables.test.ts'],
  },
  {
    fields: [
      ...VALIDATION.map((path) => `${path}.forwardClientHeaders`),
      '{RemoteSchema,Action} spec.forwardClientHeaders',
    ],
    reaches: 'The engine sends headers of clients, tokens and cookies included, to the host of the resource.',
    another: '`clientHeaders`: the host, or what holds its URL',
    home: 'nothing more',
    tests: [REACH_TEST, 'operator/end-to-end/upgraded-grants.test.ts'],
  },
  {
    fields: ['Migration spec.ociArtifact.repository'],
    reaches: 'The operator downloads from the registry, and runs what it has.',
    address: 'registries',
    another: '`registries`',
    home: '`--registries` of the operator',
    tests: ['operator/artifacts/download.test.ts', REACH_TEST, OPERATOR_ATTACK],
  },
  {
    fields: ['Migration spec.ociArtifact.{secretRef,ca.secretKeyRef,ca.configMapKeyRef}'],
    reaches: 'The operator reads a Secret or ConfigMap, and sends the credentials to the registry.',
    another: 'its own namespace only',
    home: 'its own namespace only',
    tests: ['operator/artifacts/download.test.ts', REACH_TEST],
  },
  {
    fields: [
      'Migration spec.{files[].configMapKeyRef,configMapRef}',
      'MetadataBundle spec.from[].configMapKeyRef',
    ],
    reaches:
      'The operator reads a ConfigMap as a part of the resource: who may write it may write the resource.',
    another: 'its own namespace only',
    home: 'its own namespace only',
    tests: ['operator/kubernetes/engine-binding.test.ts', REACH_TEST],
  },
  {
    fields: [
      'Engine spec.consoleUrl',
      'RestEndpoint spec.url',
      'EngineSettings spec.network.tlsAllowlist[].host',
    ],
    reaches:
      'Nothing: an address for people, a path that the engine serves, a host whose certificate may be self-signed.',
    another: 'nothing more than its kind',
    home: 'nothing',
    tests: [REACH_TEST],
  },
];

/** Returns each field that a text with `{a,b}` stands for. */
export function expanded(text: string): readonly string[] {
  const [, before = '', inner, after = ''] = /^(.*?)\{([^{}]*)\}(.*)$/.exec(text) ?? [];
  return inner === undefined ? [text] : inner.split(',').flatMap((one) => expanded(before + one + after));
}

/** A field of a spec: its path, as `spec.headers[]`. */
export type ReachingField = {
  readonly kind: string;
  readonly path: string;
  /** The schema of the field. */
  readonly schema: TSchema;
};

export function reachingFields(): readonly ReachingField[] {
  return (KINDS as readonly KindRow[]).flatMap(({ kind, spec }) =>
    fieldsIn(spec, 'spec').map(([path, schema]) => ({ kind, path, schema })),
  );
}

type Inner = {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
  readonly anyOf?: readonly TSchema[];
};

/** The names of fields that hold an address, refer to a Secret or a ConfigMap, or send what clients have sent. */
const REACHING = [
  /^(url|uri|host|hosts|service|replicas|repository|registry|endpoint|webhook|handler|address|proxy|server)$/i,
  /(Url|Uri|Host|Endpoint|Address|Registry|Webhook)$/,
  /^(secret|configMap|ca|adminSecret|secretKey|configMapKey)Ref$|(Secret|ConfigMap)(Key)?Ref$/,
  /^forward/,
];

/** True for a value that a resource may contain or refer to. */
function isValue({ properties }: Inner): boolean {
  return properties !== undefined && 'env' in properties && 'file' in properties;
}

function fieldsIn(schema: TSchema, path: string): readonly (readonly [string, TSchema])[] {
  const inner = schema as Inner;
  if (isValue(inner)) return [[path, schema]];
  const name = path.slice(path.lastIndexOf('.') + 1).replace('[]', '');
  return [
    ...(REACHING.some((pattern) => pattern.test(name)) ? [[path, schema] as const] : []),
    ...Object.entries(inner.properties ?? {}).flatMap(([key, field]) => fieldsIn(field, `${path}.${key}`)),
    ...(inner.items ? fieldsIn(inner.items, `${path}[]`) : []),
    ...(inner.anyOf ?? []).flatMap((branch) => fieldsIn(branch, path)),
  ].filter(([found], i, all) => all.findIndex(([other]) => other === found) === i);
}
