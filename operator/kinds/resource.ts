/** Custom resources of any kind: metadata, spec, and status with conditions; and the closed lists of condition types and reasons. STATUS
 *  is the schema of the status subresource of every kind.
 *  Not here: the kinds (../kinds.ts), the computation of a status (status/conditions.ts). */
import { Type } from '@pergola/engine/metadata';

export const API_GROUP = 'pergola.dev';
export const API_VERSION = 'v1alpha1';
/** The value of `apiVersion` in manifests. */
export const GROUP_VERSION = `${API_GROUP}/${API_VERSION}`;

/** The condition types. `Ready` is the summary; the others exist only while true. An Engine has two more. */
export const CONDITION_TYPES = [
  'Ready',
  'Reconciling',
  'Stalled',
  'Drifted',
  'Reachable',
  'MetadataConsistent',
] as const;
export type ConditionType = (typeof CONDITION_TYPES)[number];

/** The reasons of conditions and Events. Health scripts read them, so a new one is a change of the API. */
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
      description: `Versions of the ${what} used by the last pass, without their values.`,
    },
  );

/** The default has `observedGeneration: -1`, so that a resource without a verdict does not count as current. */
export const STATUS = Type.Object(
  {
    observedGeneration: Type.Optional(
      Type.Integer({ description: 'The generation that the conditions are about.' }),
    ),
    target: Type.Optional(text('The object that this resource describes.', 1024)),
    lastAppliedTime: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'The time of the last write of an object of this resource.',
      }),
    ),
    resourceVersion: Type.Optional(
      Type.Integer({ description: 'The version of the metadata in the last pass. Engine only.' }),
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
      text('The value of the annotation pergola.dev/confirm-prune that confirms the held deletions.', 64),
    ),
    namespaces: Type.Optional(
      Type.Array(
        Type.Object({
          name: Type.String({ maxLength: 63 }),
          state: Type.Union([Type.Literal('PruneHeld'), Type.Literal('Revoked')]),
          objects: Type.Integer({ description: 'The number of objects.' }),
          until: Type.Optional(
            Type.String({ format: 'date-time', description: 'The time when the first object is removed.' }),
          ),
          pruneHash: Type.Optional(
            text('The value of pergola.dev/confirm-prune that confirms the deletions in this namespace.', 64),
          ),
        }),
        {
          maxItems: 200,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name', 'state'],
          description:
            'Namespaces with deletions that need a confirmation, or with objects they may no longer own. Engine only.',
        },
      ),
    ),
    observedSecrets: Type.Optional(observed('Secrets')),
    observedConfigMaps: Type.Optional(observed('ConfigMaps')),
    plan: Type.Optional(
      Type.Array(Type.String({ maxLength: 1024 }), {
        maxItems: 50,
        'x-kubernetes-list-type': 'atomic',
        description: 'The changes that would be applied, while the annotation pergola.dev/plan is "true".',
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

/** Returns the name of a resource in ledgers, messages and terminals: `Table team-a/article`. */
export function crName(cr: { readonly kind: string; readonly metadata: CustomResource['metadata'] }): string {
  return `${cr.kind} ${cr.metadata.namespace}/${cr.metadata.name}`;
}

/** Returns the kind and the namespace of such a name: `Table` and `team-a`. */
export function kindAndNamespaceOf(cr: string): { readonly kind: string; readonly namespace: string } {
  const [, kind = '', namespace = ''] = /^(\S+) ([^/]*)\//.exec(cr) ?? [];
  return { kind, namespace };
}
