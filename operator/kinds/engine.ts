/** Engine: the address and the credentials of an engine, and the policies of the resources bound to it. It has no metadata objects. Its
 *  status counts objects and reports whether the engine answers. */
import { Port, Type } from '@pergola/engine/metadata';
import { closed, keyedList, Name, plainList, withDescription } from './annotate.ts';
import { AdoptionPolicy, DeletionPolicySchema, DriftPolicy, ENGINE_COLUMNS, kindRow } from './kind.ts';

const KeyRef = closed({ name: Name, key: Name });

const ServicePort = closed({
  name: Name,
  namespace: Type.Optional(Name),
  port: Port,
});

const Endpoint = withDescription(
  'The address of the engine: a Service, by default in the namespace of this object, or a URL.',
  closed(
    {
      service: Type.Optional(ServicePort),
      url: Type.Optional(Type.String({ pattern: '^https?://', maxLength: 2048 })),
      replicas: Type.Optional(
        withDescription(
          'A headless Service of the pods behind the endpoint, and the port of the pods. ' +
            'Resources become Ready once every pod serves them; when absent, once the endpoint does.',
          ServicePort,
        ),
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
  'Namespaces that may bind resources to this engine: Same (the default), All, or Selector for those with the labels.',
  closed(
    {
      from: Type.Union([Type.Literal('Same'), Type.Literal('All'), Type.Literal('Selector')]),
      selector: Type.Optional(
        closed({
          matchLabels: Type.Record(Type.String(), Type.String({ maxLength: 63 }), { maxProperties: 32 }),
        }),
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

const patterns = (description: string) =>
  Type.Optional(withDescription(description, plainList(Pattern, 500)));

const Grants = withDescription(
  'The objects that namespaces may own. The namespace of this object may own every object without a grant, and needs one only for ' +
    'environment variables. Another namespace may own what one grant covers in all its fields. A field left out covers nothing, ' +
    'except kinds. `*` at the beginning or at the end of a value stands for any text.',
  keyedList(
    'name',
    closed(
      {
        name: withDescription('For messages only.', Name),
        namespaces: patterns(
          'Names of namespaces: team-a, team-*. Without these and the selector the grant is for the namespace of this object.',
        ),
        namespaceSelector: Type.Optional(
          withDescription(
            'The namespaces with these labels.',
            closed({
              matchLabels: Type.Record(Type.String(), Type.String({ maxLength: 63 }), {
                minProperties: 1,
                maxProperties: 32,
              }),
            }),
          ),
        ),
        kinds: Type.Optional(
          withDescription(
            'Kinds of resources. The default is all that concern single objects; kinds that concern the whole engine must be named.',
            plainList(Type.String({ pattern: '^[A-Z][A-Za-z]*$', maxLength: 63 }), 32),
          ),
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
        variables: patterns('Environment variables of the engine that resources may name: TEAM_A_*.'),
        webhookHosts: patterns('Hosts of webhooks, action handlers and remote schemas: *.team-a.svc.'),
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
  adminSecretRef: Type.Optional(withDescription('Secret with the admin secret, in this namespace.', KeyRef)),
  headerPrefix: Type.Optional(
    Type.String({
      pattern: '^[a-z][a-z0-9]*(-[a-z0-9]+)*-$',
      maxLength: 63,
      description: 'The --header-prefix of the engine: x-hasura-. The default is x-engine-.',
    }),
  ),
  tls: Type.Optional(
    closed({
      caRef: withDescription('The ConfigMap or Secret with the certificate authority of the engine.', KeyRef),
    }),
  ),
  allowedNamespaces: Type.Optional(AllowedNamespaces),
  grants: Type.Optional(Grants),
  allowLiteralSecrets: Type.Optional(
    Type.Boolean({
      description:
        'Allows secretKeyRef to put values of Secrets into the metadata, where administrators can read them.',
    }),
  ),
  policies: Type.Optional(
    closed({
      drift: Type.Optional(DriftPolicy),
      adoption: Type.Optional(AdoptionPolicy),
      deletion: Type.Optional(DeletionPolicySchema),
      reservationMinutes: count(
        'The minutes for which the name of an object is reserved for the namespace of its deleted resource. The default is 10.',
        10_080,
      ),
      revocationGraceMinutes: count(
        'The minutes after which objects that their namespace may no longer own are removed. The default is 10.',
        10_080,
      ),
      pruneGuard: Type.Optional(
        closed({
          maxObjects: count(
            'The most deletions at once in one namespace that need no confirmation. The default is 20.',
            1_000_000,
          ),
          maxPercent: count(
            'The percentage of the objects of a namespace that may be deleted at once without a confirmation. The default is 30.',
            100,
          ),
        }),
      ),
    }),
  ),
  polling: Type.Optional(
    closed({
      versionSeconds: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 3600, description: 'The default is 10.' }),
      ),
      fullResyncMinutes: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 1440, description: 'The default is 10.' }),
      ),
    }),
  ),
});

export const engine = kindRow({
  kind: 'Engine',
  plural: 'engines',
  singular: 'engine',
  shortNames: ['gqle'],
  concerns: 'engine',
  description: 'An engine whose metadata is managed by custom resources.',
  spec: EngineSpec,
  columns: ENGINE_COLUMNS,
  selectableFields: [],
  deletionPolicy: 'Retain',
  target: (spec) =>
    spec.endpoint.url ?? `service ${spec.endpoint.service?.name}:${spec.endpoint.service?.port}`,
  translate: () => [],
});
