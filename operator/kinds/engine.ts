/** Engine: the address and the credentials of an engine, and the policies of the resources bound to it. It has no metadata objects. Its
 *  status counts objects and reports whether the engine answers. */
import { Port, Type } from '@pergola/engine/metadata';
import { closed, keyedList, Name, plainList, withDescription } from './annotate.ts';
import { AdoptionPolicy, DeletionPolicySchema, DriftPolicy, ENGINE_COLUMNS, kindRow } from './kind.ts';
import { optional, required } from './mapping.ts';

/** Returns the schema of a reference to a key. `kind` is what holds it. */
function keyRef(kind: string) {
  return closed({
    name: required(`The name of the ${kind}, in the namespace of this Engine.`, Name),
    key: required('The key in its data.', Name),
  });
}

const ServicePort = closed({
  name: required('The name of the Service.', Name),
  namespace: optional('The namespace of the Service. Absent: the namespace of this Engine.', Name),
  port: required('The port, for example 8080.', Port),
});

const labels = (minProperties: number) =>
  Type.Record(Type.String(), Type.String({ maxLength: 63 }), {
    minProperties,
    maxProperties: 32,
    description: 'The labels that the namespaces must have, from key to value.',
  });

const Endpoint = withDescription(
  'The address of the engine: a Service or a URL.',
  closed(
    {
      service: optional(
        'The Service in front of the engine. With tls it is requested over HTTPS.',
        ServicePort,
      ),
      url: optional(
        'The URL of the engine without a path, for example https://api.example.com.',
        Type.String({ pattern: '^https?://[^?#]+$', maxLength: 2048 }),
      ),
      replicas: optional(
        'A headless Service of the pods behind the endpoint, and the port of the pods. ' +
          'Resources become Ready once every pod serves them; when absent, once the endpoint does.',
        ServicePort,
      ),
    },
    {
      rule: 'has(self.service) != has(self.url)',
      message: 'endpoint has either service or url; name one of them',
      holds: (endpoint) => 'service' in endpoint !== 'url' in endpoint,
    },
  ),
);

const AllowedNamespaces = withDescription(
  'Namespaces that may bind resources to this Engine. Absent: only its own.',
  closed(
    {
      from: required(
        'Same: only the namespace of this Engine. All: every namespace. Selector: namespaces with the labels of selector.',
        Type.Union([Type.Literal('Same'), Type.Literal('All'), Type.Literal('Selector')]),
      ),
      selector: optional(
        'The labels of the namespaces that may bind resources, with from: Selector.',
        closed({ matchLabels: labels(0) }),
      ),
    },
    {
      rule: "(self.from == 'Selector') == has(self.selector)",
      message: 'allowedNamespaces.selector goes with from: Selector; add the one or change the other',
      holds: (allowed) => (allowed.from === 'Selector') === 'selector' in allowed,
    },
  ),
);

/** A pattern. `*` at the beginning or the end matches any text. */
const Pattern = Type.String({ minLength: 1, maxLength: 512, pattern: '^[*]?[^*]*[*]?$' });

const patterns = (description: string) => optional(description, plainList(Pattern, 500));

const Grants = withDescription(
  'The objects that namespaces may own. The namespace of this object may own every object without a grant, and needs one only for ' +
    'environment variables and files. Another namespace may own what one grant covers in all its fields. A field left out covers nothing, ' +
    'except kinds. `*` at the beginning or at the end of a value stands for any text.',
  keyedList(
    'name',
    closed(
      {
        name: required('For messages only.', Name),
        namespaces: patterns(
          'Names of namespaces: team-a, team-*. Without these and the selector the grant is for the namespace of this object.',
        ),
        namespaceSelector: optional('The namespaces with these labels.', closed({ matchLabels: labels(1) })),
        kinds: optional(
          'Kinds of resources. The default is all that concern single objects; kinds that concern the whole engine must be named.',
          plainList(Type.String({ pattern: '^[A-Z][A-Za-z]*$', maxLength: 63 }), 32),
        ),
        sources: patterns('Sources of the tables, functions and other objects of databases.'),
        tables: patterns('Tables and functions, as schema.name: public.*, sales.order.'),
        references: patterns(
          'Tables that relationships and conditions may refer to, besides those under tables.',
        ),
        names: patterns(
          'Names of actions, custom types, remote schemas, cron triggers, REST endpoints and query collections.',
        ),
        roles: patterns('Roles of permissions.'),
        variables: patterns(
          'Environment variables of the engine that resources may name: TEAM_A_*. Files as file:PATH: file:/etc/team-a/*.',
        ),
        webhookHosts: patterns('Hosts of webhooks, action handlers and remote schemas: *.team-a.svc.'),
        clientHeaders: patterns(
          'Hosts that may receive the headers of clients, tokens and cookies included (forwardClientHeaders), and variables and files that ' +
            'hold the URL of one: billing.team-a.svc, TEAM_A_URL.',
        ),
        databaseHosts: patterns(
          'Hosts of the databases of Sources, without the port: db.team-a.svc. A connection URL in a Secret needs *.',
        ),
        registries: patterns(
          'Hosts of the OCI registries of Migrations, with the port if the repository names one: ghcr.io, registry.team-a.svc:5000.',
        ),
      },
      {
        rule: '!has(self.namespaces) || !has(self.namespaceSelector)',
        message: 'a grant has at most one of namespaces and namespaceSelector; name one of them',
        holds: (grant) => !('namespaces' in grant && 'namespaceSelector' in grant),
      },
    ),
    200,
  ),
);

const count = (description: string, maximum: number) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum, description }));

export const EngineSpec = closed({
  endpoint: Endpoint,
  adminSecretRef: optional(
    'The Secret with the admin secret of the engine. Absent: requests have no admin secret.',
    keyRef('Secret'),
  ),
  consoleUrl: optional(
    'The URL of the console for people, for example https://api.example.com/console. Conditions and Events of resources name the page about ' +
      'their object. Absent: they name none.',
    Type.String({ pattern: '^https?://[^?#\\s]+$', maxLength: 256 }),
  ),
  headerPrefix: optional(
    'The option --header-prefix of the engine, for example x-hasura-. Absent: x-engine-.',
    Type.String({ pattern: '^[a-z][a-z0-9]*(-[a-z0-9]+)*-$', maxLength: 63 }),
  ),
  tls: optional(
    'How the certificate of the engine is verified. Absent: by the authorities of the operator.',
    closed({
      caRef: required(
        'The certificates of the authority of the engine, in PEM. A ConfigMap is preferred to a Secret of the same name.',
        keyRef('ConfigMap or Secret'),
      ),
    }),
  ),
  allowedNamespaces: Type.Optional(AllowedNamespaces),
  grants: Type.Optional(Grants),
  policies: optional(
    'What applies to all resources of this Engine unless they say otherwise.',
    closed({
      drift: Type.Optional(DriftPolicy),
      adoption: Type.Optional(AdoptionPolicy),
      deletion: Type.Optional(DeletionPolicySchema),
      reservationMinutes: count(
        'The minutes for which the name of an object is reserved for the namespace of its deleted resource. Absent: 10.',
        10_080,
      ),
      revocationGraceMinutes: count(
        'The minutes after which objects that their namespace may no longer own are removed. Absent: 10.',
        10_080,
      ),
      holdBack: optional(
        'The changes of resources that wait for a confirmation by the annotation pergola.dev/confirm-change, on the resource or on this object. ' +
          'Breaking: an operation that is valid for a role may be invalid afterwards. Widened: a role that has a permission reaches more rows, or it ' +
          'is not known that it does not. Meanwhile the engine keeps the previous objects of the resource; a deleted resource is a change, too. ' +
          'Absent: nothing waits.',
        plainList(Type.Union([Type.Literal('Breaking'), Type.Literal('Widened')]), 8),
      ),
      permissionTests: optional(
        'Run: the operator runs the PermissionTests in the namespace of this object that have runAfterApply. Their authors learn whether ' +
          'the response to a request as any role is the expected one. Ignore: it runs none. Absent: Ignore.',
        Type.Union([Type.Literal('Run'), Type.Literal('Ignore')]),
      ),
      pruneGuard: optional(
        'How many deletions within ten minutes need a confirmation by the annotation pergola.dev/confirm-prune.',
        closed({
          maxObjects: count(
            'The most deletions in one namespace that need no confirmation. Absent: 20.',
            1_000_000,
          ),
          maxPercent: count(
            'The percentage of the objects of a namespace that may be deleted without a confirmation. Absent: 30.',
            100,
          ),
        }),
      ),
    }),
  ),
  waitForDeletion: optional(
    'Keeps the deleted object until its resources and their objects in the engine are deleted, for a few minutes at most. Without it nothing ' +
      'is removed from the engine any more once this object is deleted. Needs operator.waitingDeletion in the chart, and has no effect in the ' +
      'namespace of the operator. Absent: false.',
    Type.Boolean(),
  ),
  polling: optional(
    'How often the operator looks for changes by other clients.',
    closed({
      versionSeconds: optional(
        'The seconds between two looks at the version of the metadata. Absent: 10.',
        Type.Integer({ minimum: 1, maximum: 3600 }),
      ),
      fullResyncMinutes: optional(
        'The minutes after which everything is compared again. Absent: 10.',
        Type.Integer({ minimum: 1, maximum: 1440 }),
      ),
    }),
  ),
});

export const engine = kindRow({
  kind: 'Engine',
  shortNames: ['gqle'],
  concerns: 'engine',
  purpose: 'engine',
  description: 'An engine whose metadata is managed by custom resources.',
  spec: EngineSpec,
  columns: ENGINE_COLUMNS,
  selectableFields: [],
  deletionPolicy: 'Retain',
  target: (spec) =>
    spec.endpoint.url ?? `service ${spec.endpoint.service?.name}:${spec.endpoint.service?.port}`,
});
