/** Custom resources of any kind: metadata, spec, and status with conditions. STATUS is the schema of the status subresource of every kind.
 *  Not here: the kinds (../kinds.ts), the condition types and reasons (reasons.ts), the computation of a status (status/conditions.ts). */
import { type Static, Type } from '@pergola/engine/metadata';
import { IdentityCache } from '../identity-cache.ts';
import { keyedList, plainList } from './annotate.ts';
import { optional, required } from './mapping.ts';
import type { ConditionType, Reason } from './reasons.ts';

export const API_GROUP = 'pergola.dev';
export const API_VERSION = 'v1alpha1';
/** The value of `apiVersion` in manifests. */
export const GROUP_VERSION = `${API_GROUP}/${API_VERSION}`;

/** A text of at most so many characters. */
const text = (maxLength: number) => Type.String({ maxLength });
const Time = Type.String({ format: 'date-time' });

/** A type or reason of a condition. It is not an enum: an operator newer than the definitions must be able to write its status. */
const name = <T extends string>() => Type.Unsafe<T>({ ...text(64), pattern: '^[A-Z][A-Za-z0-9]*$' });

const StatusCondition = Type.Object({
  type: required(
    'What the condition is about: Ready is the summary; the others, such as Stalled or Drifted, exist only while true.',
    name<ConditionType>(),
  ),
  status: required(
    'Whether the condition holds.',
    Type.Union([Type.Literal('True'), Type.Literal('False'), Type.Literal('Unknown')]),
  ),
  reason: required(
    'Why, in one word, such as Applied. What each means and what to do: docs/reference/conditions.md.',
    name<Reason>(),
  ),
  message: required('Why, in a sentence that names the object and the field.', text(32768)),
  observedGeneration: required('The generation of the resource that the condition is about.', Type.Integer()),
  lastTransitionTime: required('The time of the last change of status.', Time),
});

const observed = (what: string) =>
  optional(
    `Versions of the ${what} used by the last pass, without their values.`,
    keyedList(
      'name',
      Type.Object({
        name: required('The name of the object in the namespace of the resource.', text(253)),
        resourceVersion: required('The version of the object at the API server.', text(253)),
      }),
    ),
  );

/** The most replicas in the status of an Engine. */
export const MOST_REPLICAS = 50;

const Replica = Type.Object({
  address: required('The IP address of the replica.', text(64)),
  engineVersion: required('The version of the engine in this replica.', text(64)),
});

const Operator = Type.Object({
  lease: required('The namespace and the name of the lease of the operator.', text(317)),
  identity: required('The replica of the operator that holds the lease.', text(253)),
  seenTime: required('The time when it last recorded itself; every ten minutes.', Time),
});

const ObjectCounts = Type.Object({
  owned: required('Objects that resources own.', Type.Integer()),
  foreign: required('Objects that no resource of this operator owns.', Type.Integer()),
  failing: required('Objects of resources that the engine does not serve as defined.', Type.Integer()),
  drifted: required('Objects whose difference from the resource is kept.', Type.Integer()),
});

const NamespaceObjects = Type.Object({
  name: required('The name of the namespace.', text(63)),
  state: required(
    'PruneHeld: deletions wait for a confirmation. Revoked: objects are removed when the grace period ends.',
    Type.Union([Type.Literal('PruneHeld'), Type.Literal('Revoked')]),
  ),
  objects: required('The number of objects.', Type.Integer()),
  until: optional('The time when the first object is removed.', Time),
  pruneHash: optional(
    'The value of pergola.dev/confirm-prune that confirms the deletions in this namespace.',
    text(64),
  ),
});

const HeldChange = Type.Object({
  resource: required(
    'The kind, the namespace and the name of the resource, which may be deleted.',
    text(400),
  ),
  hash: required(
    'The value of the annotation pergola.dev/confirm-change that confirms the change.',
    text(64),
  ),
  message: required('What the change would break.', text(1024)),
});

const Artifact = Type.Object({
  repository: required('The repository of the artifact.', text(512)),
  digest: required('The digest of its manifest.', text(256)),
});

const Applied = Type.Object({
  version: optional('The newest version. Empty without a migration.', text(256)),
  artifactProblem: optional('Why the artifact was not read again. Absent when it was.', text(1024)),
  missingDigest: optional('The digest without which later files of a ConfigMap do not run.', text(256)),
});

/** The default has `observedGeneration: -1`, so that a resource without a verdict does not count as current. */
export const STATUS = Type.Object(
  {
    observedGeneration: optional('The generation that the conditions are about.', Type.Integer()),
    target: optional('The object that this resource describes.', text(1024)),
    lastAppliedTime: optional('The time of the last write of an object of this resource.', Time),
    distribution: optional(
      'How the table is distributed over a Citus cluster, for example "distributed by company_id (colocation 2)". Table only; absent on other databases.',
      text(256),
    ),
    resourceVersion: optional('The version of the metadata in the last pass. Engine only.', Type.Integer()),
    engineVersion: optional(
      'The version of the engine that answered at the endpoint, such as v2.48.0+pergola.1.0.0. Engine only.',
      text(64),
    ),
    replicas: optional(
      'The replicas of the engine that answer, with their versions. Engine only; absent without spec.endpoint.replicas.',
      keyedList('address', Replica, MOST_REPLICAS),
    ),
    operators: optional(
      'The operators that reconcile this Engine. More than one with a recent time contest it. Engine only.',
      keyedList('lease', Operator, 10),
    ),
    notReady: optional(
      'The number of resources that the message of Ready counts as not ready. Engine only.',
      Type.Integer(),
    ),
    objects: optional('The number of metadata objects after the last pass. Engine only.', ObjectCounts),
    pruneHash: optional(
      'The value of the annotation pergola.dev/confirm-prune that confirms the held deletions.',
      text(64),
    ),
    namespaces: optional(
      'Namespaces with deletions that need a confirmation, or with objects they may no longer own. Engine only.',
      keyedList(['name', 'state'], NamespaceObjects, 200),
    ),
    heldBack: optional(
      'The changes that policies.holdBack holds back. Engine only.',
      keyedList('resource', HeldChange, 100),
    ),
    observedSecrets: observed('Secrets'),
    observedConfigMaps: observed('ConfigMaps'),
    observedArtifact: optional(
      'The artifact used by the last pass: what the tag of spec.ociArtifact referred to. Migration only.',
      Artifact,
    ),
    migration: optional('What is applied. Migration only.', Applied),
    replaced: optional(
      'The objects that the current generation replaced, because a field that identifies an object changed.',
      plainList(required('The key of an object.', text(1024)), 50),
    ),
    plan: optional(
      'The changes that would be applied, while the annotation pergola.dev/plan is "true".',
      plainList(required('One change, or a detail of the change above it.', text(1024)), 50),
    ),
    conditions: optional(
      'The state of the resource. Ready is the summary.',
      keyedList('type', StatusCondition, 8),
    ),
  },
  { default: { observedGeneration: -1 } },
);

/** The value of a schema, which nobody changes. */
type Constant<T> = T extends readonly (infer Item)[]
  ? readonly Constant<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Constant<T[Key]> }
    : T;
type Status = Constant<Static<typeof STATUS>>;

/** The status of a resource that has a verdict. */
export type CrStatus = Status & Required<Pick<Status, 'observedGeneration' | 'conditions'>>;
export type Condition = CrStatus['conditions'][number];
/** The state of a Migration whose files are applied. */
export type AppliedMigration = NonNullable<CrStatus['migration']>;
export type ObservedVersion = NonNullable<CrStatus['observedSecrets']>[number];
export type NamespaceStatus = NonNullable<CrStatus['namespaces']>[number];
/** A replica of an engine that answers. */
export type ReplicaVersion = NonNullable<CrStatus['replicas']>[number];
/** An operator that reconciles an Engine. `lease` is `namespace/name`. */
export type OperatorEntry = NonNullable<CrStatus['operators']>[number];

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
