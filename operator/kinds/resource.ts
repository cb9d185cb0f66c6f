/** What a custom resource is, apart from its kind: metadata, spec, status with conditions; and the closed lists of condition
 *  types and reasons. STATUS is the schema of every kind's status subresource.
 *  Not here: which kinds there are (../kinds.ts), how a status comes about (status/conditions.ts). */
import { Type } from '@pergola/engine/metadata';

export const API_GROUP = 'pergola.dev';
export const API_VERSION = 'v1alpha1';
/** What a manifest says in `apiVersion`. */
export const GROUP_VERSION = `${API_GROUP}/${API_VERSION}`;

/** Condition types. `Ready` sums up; the others are there only while true. An Engine has two more. */
export const CONDITION_TYPES = [
  'Ready',
  'Reconciling',
  'Stalled',
  'Drifted',
  'Reachable',
  'MetadataConsistent',
] as const;
export type ConditionType = (typeof CONDITION_TYPES)[number];

/** Every reason a condition or an event may have. Health scripts read them: adding one is a change of the API. */
export const REASONS = [
  'Applied',
  'Applying',
  'Paused',
  'DependencyNotReady',
  'EngineUnreachable',
  'EngineRejectedCredentials',
  'RemoteUnavailable',
  'SourceUnavailable',
  'InvalidSpec',
  'RejectedByEngine',
  'NotEnforced',
  'Conflict',
  'AdoptionRequired',
  'RefNotPermitted',
  'NotPermitted',
  'SecretNotFound',
  'DriftReported',
  'PruneHeld',
  'Deleting',
] as const;
export type Reason = (typeof REASONS)[number];

const text = (description: string, maxLength: number) => Type.String({ description, maxLength });

const STATUS_CONDITION = Type.Object({
  type: Type.Union(CONDITION_TYPES.map((type) => Type.Literal(type))),
  status: Type.Union([Type.Literal('True'), Type.Literal('False'), Type.Literal('Unknown')]),
  reason: Type.Union(REASONS.map((reason) => Type.Literal(reason))),
  message: Type.String({ maxLength: 32768 }),
  observedGeneration: Type.Integer(),
  lastTransitionTime: Type.String({ format: 'date-time' }),
});
export type Condition = {
  readonly type: ConditionType;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: Reason;
  readonly message: string;
  readonly observedGeneration: number;
  readonly lastTransitionTime: string;
};

const observed = (what: string) =>
  Type.Array(
    Type.Object({ name: Type.String({ maxLength: 253 }), resourceVersion: Type.String({ maxLength: 253 }) }),
    {
      maxItems: 1600,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      description: `Versions of the ${what} it was read with; never their values.`,
    },
  );

/** Born with `observedGeneration: -1`, so that a resource nobody has looked at is not taken for a current one. */
export const STATUS = Type.Object(
  {
    observedGeneration: Type.Optional(Type.Integer({ description: 'Generation the conditions speak of.' })),
    target: Type.Optional(text('What this resource is about, in the words of the engine.', 1024)),
    lastAppliedTime: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'When an object of this resource was last written to the engine.',
      }),
    ),
    resourceVersion: Type.Optional(
      Type.Integer({ description: 'Version of the metadata last seen. Engine only.' }),
    ),
    objects: Type.Optional(
      Type.Object({
        owned: Type.Integer(),
        foreign: Type.Integer(),
        failing: Type.Integer(),
        drifted: Type.Integer(),
      }),
    ),
    pruneHash: Type.Optional(
      text('Value of the annotation pergola.dev/confirm-prune that releases the deletions held back.', 64),
    ),
    namespaces: Type.Optional(
      Type.Array(
        Type.Object({
          name: Type.String({ maxLength: 63 }),
          state: Type.Union([Type.Literal('PruneHeld'), Type.Literal('Revoked')]),
          objects: Type.Integer({ description: 'How many objects of the namespace.' }),
          until: Type.Optional(
            Type.String({ format: 'date-time', description: 'When the first of them is removed.' }),
          ),
          pruneHash: Type.Optional(
            text('Value of pergola.dev/confirm-prune that releases the deletions of this namespace.', 64),
          ),
        }),
        {
          maxItems: 200,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name', 'state'],
          description:
            'Namespaces with deletions that wait for a person, and with objects they may no longer own. Engine only.',
        },
      ),
    ),
    observedSecrets: Type.Optional(observed('Secrets')),
    observedConfigMaps: Type.Optional(observed('ConfigMaps')),
    plan: Type.Optional(
      Type.Array(Type.String({ maxLength: 1024 }), {
        maxItems: 50,
        'x-kubernetes-list-type': 'atomic',
        description: 'What would happen; while the annotation pergola.dev/plan is "true".',
      }),
    ),
    conditions: Type.Optional(
      Type.Array(STATUS_CONDITION, {
        maxItems: 8,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['type'],
      }),
    ),
  },
  { default: { observedGeneration: -1 } },
);

export type ObservedVersion = { readonly name: string; readonly resourceVersion: string };

export type NamespaceStatus = {
  readonly name: string;
  readonly state: 'PruneHeld' | 'Revoked';
  readonly objects: number;
  readonly until?: string;
  readonly pruneHash?: string;
};

export type CrStatus = {
  readonly observedGeneration: number;
  readonly target?: string;
  readonly lastAppliedTime?: string;
  readonly resourceVersion?: number;
  readonly objects?: {
    readonly owned: number;
    readonly foreign: number;
    readonly failing: number;
    readonly drifted: number;
  };
  readonly pruneHash?: string;
  readonly namespaces?: readonly NamespaceStatus[];
  readonly observedSecrets?: readonly ObservedVersion[];
  readonly observedConfigMaps?: readonly ObservedVersion[];
  readonly plan?: readonly string[];
  readonly conditions: readonly Condition[];
};

export type CustomResource = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly generation: number;
    readonly creationTimestamp: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
  };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: CrStatus;
};

/** `Table team-a/article`: how ledger, conflicts and terminals name a resource. */
export function crName(cr: { readonly kind: string; readonly metadata: CustomResource['metadata'] }): string {
  return `${cr.kind} ${cr.metadata.namespace}/${cr.metadata.name}`;
}

/** `Table team-a/article` → `Table` and `team-a`. */
export function kindAndNamespaceOf(cr: string): { readonly kind: string; readonly namespace: string } {
  const [, kind = '', namespace = ''] = /^(\S+) ([^/]*)\//.exec(cr) ?? [];
  return { kind, namespace };
}
