/** Custom resources of any kind: metadata, spec, and status with conditions. STATUS is the schema of the status subresource of every kind.
 *  Not here: the kinds (../kinds.ts), the condition types and reasons (reasons.ts), the computation of a status (status/conditions.ts). */
import { Type } from '@pergola/engine/metadata';
import { IdentityCache } from '../identity-cache.ts';
import type { ConditionType, Reason } from './reasons.ts';

export const API_GROUP = 'pergola.dev';
export const API_VERSION = 'v1alpha1';
/** The value of `apiVersion` in manifests. */
export const GROUP_VERSION = `${API_GROUP}/${API_VERSION}`;

const text = (description: string, maxLength: number) => Type.String({ description, maxLength });

/** A type or reason of a condition. It is not an enum: an operator newer than the definitions must be able to write its status. */
const name = (description: string) =>
  Type.String({ description, maxLength: 64, pattern: '^[A-Z][A-Za-z0-9]*$' });

const STATUS_CONDITION = Type.Object({
  type: name(
    'What the condition is about: Ready is the summary; the others, such as Stalled or Drifted, exist only while true.',
  ),
  status: Type.Union([Type.Literal('True'), Type.Literal('False'), Type.Literal('Unknown')], {
    description: 'Whether the condition holds.',
  }),
  reason: name(
    'Why, in one word, such as Applied. What each means and what to do: docs/reference/conditions.md.',
  ),
  message: text('Why, in a sentence that names the object and the field.', 32768),
  observedGeneration: Type.Integer({
    description: 'The generation of the resource that the condition is about.',
  }),
  lastTransitionTime: Type.String({
    format: 'date-time',
    description: 'The time of the last change of status.',
  }),
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
    Type.Object({
      name: text('The name of the object in the namespace of the resource.', 253),
      resourceVersion: text('The version of the object at the API server.', 253),
    }),
    {
      maxItems: 1600,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      description: `Versions of the ${what} used by the last pass, without their values.`,
    },
  );

/** The most replicas in the status of an Engine. */
export const MOST_REPLICAS = 50;

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
    engineVersion: Type.Optional(
      text(
        'The version of the engine that answered at the endpoint, such as v2.48.0+pergola.1.0.0. Engine only.',
        64,
      ),
    ),
    replicas: Type.Optional(
      Type.Array(
        Type.Object({
          address: text('The IP address of the replica.', 64),
          engineVersion: text('The version of the engine in this replica.', 64),
        }),
        {
          maxItems: MOST_REPLICAS,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['address'],
          description:
            'The replicas of the engine that answer, with their versions. Engine only; absent without spec.endpoint.replicas.',
        },
      ),
    ),
    operators: Type.Optional(
      Type.Array(
        Type.Object({
          lease: text('The namespace and the name of the lease of the operator.', 317),
          identity: text('The replica of the operator that holds the lease.', 253),
          seenTime: Type.String({
            format: 'date-time',
            description: 'The time when it last recorded itself; every ten minutes.',
          }),
        }),
        {
          maxItems: 10,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['lease'],
          description:
            'The operators that reconcile this Engine. More than one with a recent time contest it. Engine only.',
        },
      ),
    ),
    notReady: Type.Optional(
      Type.Integer({
        description: 'The number of resources that the message of Ready counts as not ready. Engine only.',
      }),
    ),
    objects: Type.Optional(
      Type.Object(
        {
          owned: Type.Integer({ description: 'Objects that resources own.' }),
          foreign: Type.Integer({ description: 'Objects that no resource of this operator owns.' }),
          failing: Type.Integer({
            description: 'Objects of resources that the engine does not serve as defined.',
          }),
          drifted: Type.Integer({ description: 'Objects whose difference from the resource is kept.' }),
        },
        { description: 'The number of metadata objects after the last pass. Engine only.' },
      ),
    ),
    pruneHash: Type.Optional(
      text('The value of the annotation pergola.dev/confirm-prune that confirms the held deletions.', 64),
    ),
    namespaces: Type.Optional(
      Type.Array(
        Type.Object({
          name: text('The name of the namespace.', 63),
          state: Type.Union([Type.Literal('PruneHeld'), Type.Literal('Revoked')], {
            description:
              'PruneHeld: deletions wait for a confirmation. Revoked: objects are removed when the grace period ends.',
          }),
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
    heldBack: Type.Optional(
      Type.Array(
        Type.Object({
          resource: text('The kind, the namespace and the name of the resource, which may be deleted.', 400),
          hash: text('The value of the annotation pergola.dev/confirm-change that confirms the change.', 64),
          message: text('What the change would break.', 1024),
        }),
        {
          maxItems: 100,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['resource'],
          description: 'The changes that policies.holdBack holds back. Engine only.',
        },
      ),
    ),
    observedSecrets: Type.Optional(observed('Secrets')),
    observedConfigMaps: Type.Optional(observed('ConfigMaps')),
    observedArtifact: Type.Optional(
      Type.Object(
        {
          repository: text('The repository of the artifact.', 512),
          digest: text('The digest of its manifest.', 256),
        },
        {
          description:
            'The artifact used by the last pass: what the tag of spec.ociArtifact referred to. Migration only.',
        },
      ),
    ),
    plan: Type.Optional(
      Type.Array(text('One change, or a detail of the change above it.', 1024), {
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
        description: 'The state of the resource. Ready is the summary.',
      }),
    ),
  },
  { default: { observedGeneration: -1 } },
);

export type ObservedVersion = { readonly name: string; readonly resourceVersion: string };

/** The artifact of a Migration: `ghcr.io/acme/library` and `sha256:…`. */
export type ObservedArtifact = { readonly repository: string; readonly digest: string };

export type NamespaceStatus = {
  readonly name: string;
  readonly state: 'PruneHeld' | 'Revoked';
  readonly objects: number;
  readonly until?: string;
  readonly pruneHash?: string;
};

/** A replica of an engine that answers. */
export type ReplicaVersion = { readonly address: string; readonly engineVersion: string };

/** An operator that reconciles an Engine. `lease` is `namespace/name`. */
export type OperatorEntry = { readonly lease: string; readonly identity: string; readonly seenTime: string };

export type CrStatus = {
  readonly observedGeneration: number;
  readonly target?: string;
  readonly lastAppliedTime?: string;
  readonly resourceVersion?: number;
  readonly engineVersion?: string;
  readonly replicas?: readonly ReplicaVersion[];
  readonly operators?: readonly OperatorEntry[];
  readonly notReady?: number;
  readonly objects?: {
    readonly owned: number;
    readonly foreign: number;
    readonly failing: number;
    readonly drifted: number;
  };
  readonly pruneHash?: string;
  readonly namespaces?: readonly NamespaceStatus[];
  readonly heldBack?: readonly {
    readonly resource: string;
    readonly hash: string;
    readonly message: string;
  }[];
  readonly observedSecrets?: readonly ObservedVersion[];
  readonly observedConfigMaps?: readonly ObservedVersion[];
  readonly observedArtifact?: ObservedArtifact;
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

/** Each of the objects of a resource has its name in the ledger. */
const names = new IdentityCache<object, string>();

/** Returns the name of a resource in ledgers, messages and terminals: `Table team-a/article`. */
export function crName(cr: { readonly kind: string; readonly metadata: CustomResource['metadata'] }): string {
  return names.get(cr, () => `${cr.kind} ${cr.metadata.namespace}/${cr.metadata.name}`);
}

/** Returns the kind and the namespace of such a name: `Table` and `team-a`. */
export function kindAndNamespaceOf(cr: string): { readonly kind: string; readonly namespace: string } {
  const [, kind = '', namespace = ''] = /^(\S+) ([^/]*)\//.exec(cr) ?? [];
  return { kind, namespace };
}
