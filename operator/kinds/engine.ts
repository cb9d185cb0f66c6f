/** Engine: where an engine is, how to be let in, and what holds for the resources bound to it. It stands for no metadata.
 *  Its status counts objects and says whether the engine answers. */
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
  'Where the engine answers: a Service, in the namespace of this object unless said, or a URL.',
  closed(
    {
      service: Type.Optional(ServicePort),
      url: Type.Optional(Type.String({ pattern: '^https?://', maxLength: 2048 })),
      replicas: Type.Optional(
        withDescription(
          'A headless Service of the pods behind the endpoint, and the port of the pods. ' +
            'What is written is Ready once each of them serves it; when absent, once the endpoint does.',
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
  'Who may bind resources to this engine: Same (as when absent), All, or the namespaces with the labels.',
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

/** `*` at the beginning or at the end stands for any text. */
const Pattern = Type.String({ minLength: 1, maxLength: 512, pattern: '^[*]?[^*]*[*]?$' });

const patterns = (description: string) =>
  Type.Optional(withDescription(description, plainList(Pattern, 500)));

const Grants = withDescription(
  'What namespaces may own. The namespace of this object may own every object without a grant, and needs one only for ' +
    'environment variables. Another namespace may own what one grant covers in all its fields. A field left out covers nothing, ' +
    'except kinds. `*` at the beginning or at the end of a value stands for any text.',
  keyedList(
    'name',
    closed(
      {
        name: withDescription('For people.', Name),
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
            'Kinds of resources; when absent, all that concern single objects. Kinds that concern the whole engine must be named.',
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
  tls: Type.Optional(
    closed({
      caRef: withDescription('ConfigMap or Secret with the authority the engine is signed by.', KeyRef),
    }),
  ),
  allowedNamespaces: Type.Optional(AllowedNamespaces),
  grants: Type.Optional(Grants),
  allowLiteralSecrets: Type.Optional(
    Type.Boolean({
      description:
        'Let secretKeyRef put values of Secrets into the metadata, where administrators read them.',
    }),
  ),
  policies: Type.Optional(
    closed({
      drift: Type.Optional(DriftPolicy),
      adoption: Type.Optional(AdoptionPolicy),
      deletion: Type.Optional(DeletionPolicySchema),
      reservationMinutes: count(
        'For so many minutes an object that lost its resource stays reserved for the namespace of that resource; 10 when absent.',
        10_080,
      ),
      revocationGraceMinutes: count(
        'After so many minutes the objects of a namespace that may no longer own them are removed; 10 when absent.',
        10_080,
      ),
      pruneGuard: Type.Optional(
        closed({
          maxObjects: count(
            'Deletions of one namespace at once that always pass; 20 when absent.',
            1_000_000,
          ),
          maxPercent: count(
            'Share of the objects of a namespace that may always be deleted at once; 30 when absent.',
            100,
          ),
        }),
      ),
    }),
  ),
  polling: Type.Optional(
    closed({
      versionSeconds: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 3600, description: '10 when absent.' }),
      ),
      fullResyncMinutes: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 1440, description: '10 when absent.' }),
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
  description: 'An engine whose metadata custom resources describe.',
  spec: EngineSpec,
  columns: ENGINE_COLUMNS,
  selectableFields: [],
  deletionPolicy: 'Retain',
  target: (spec) =>
    spec.endpoint.url ?? `service ${spec.endpoint.service?.name}:${spec.endpoint.service?.port}`,
  translate: () => [],
});
