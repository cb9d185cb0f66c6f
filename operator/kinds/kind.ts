/** What a row of KINDS says, and the fields all specs share.
 *  Not here: the rows (../kinds.ts). */
import type { MetadataObject, ObjectKind } from '@pergola/engine/metadata';
import { type Static, type TProperties, type TSchema, Type } from '@pergola/engine/metadata';
import { closed, immutable, Name, type Rule, withDescription } from './annotate.ts';
import type { FieldPath } from './field-path.ts';
import type { Reason } from './resource.ts';

export type PrinterColumn = {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date' | 'boolean';
  readonly jsonPath: string;
  readonly description?: string;
  /** 1: only with `-o wide`. */
  readonly priority?: 0 | 1;
};

type KeyRef = { readonly name: string; readonly key: string };

/** Where a value comes from that the resource does not hold itself; exactly one of the four. */
export type ValueSource = {
  readonly secretKeyRef?: KeyRef | undefined;
  readonly configMapKeyRef?: KeyRef | undefined;
  readonly env?: string | undefined;
  readonly file?: string | undefined;
};

export type TranslateContext = {
  /** The metadata's form of a value kept elsewhere. Throws SpecProblem when it cannot be had. */
  readonly valueFrom: (
    source: ValueSource,
    path: string,
  ) => string | { readonly from_env: string } | { readonly dynamic_from_file: string };
};

/** A resource that cannot be translated, and why, in the words of its status. */
export class SpecProblem extends Error {
  readonly reason: Reason;

  constructor(reason: Reason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The objects of a document, to be described by resources. */
export type Inventory = {
  readonly all: (kind: ObjectKind) => readonly MetadataObject[];
  /** Those nested in the object with the key. */
  readonly under: (parent: string, kind: ObjectKind) => readonly MetadataObject[];
};

/** A resource to be written, without the fields that all kinds have. Keys without a value count as absent. */
export type ResourceDraft = {
  /** What the resource may be called; any text. */
  readonly name: string;
  readonly spec: object;
  /** Values that belong into a Secret, by the key of a `secretKeyRef` whose name is OWN_SECRET. */
  readonly secrets?: Readonly<Record<string, string>>;
};

/** Stands for the name of the Secret a draft brings along; whoever names the resource names that. */
export const OWN_SECRET = '';

export type DeletionPolicy = 'Delete' | 'Retain';

export type KindRow = {
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly scope: 'Namespaced';
  readonly description: string;
  /** `engine`: resources of the kind change what the engine does for everybody. They are for administrators: the chart's role `edit`
   *  does not cover them, and other namespaces need a grant that names the kind. `object`: they concern single metadata objects. */
  readonly concerns: 'engine' | 'object';
  /** Schema of `spec`; rules stand in it as `x-kubernetes-validations`. */
  readonly spec: TSchema;
  readonly columns: readonly PrinterColumn[];
  readonly selectableFields: readonly string[];
  /** What happens to the objects of a deleted resource that says nothing about it. */
  readonly deletionPolicy: DeletionPolicy;
  /** What the resource is about, for people. */
  readonly target: (spec: unknown) => string;
  /** The metadata objects the resource stands for. `spec` fits the schema. */
  readonly translate: (spec: unknown, context: TranslateContext) => readonly MetadataObject[];
  /** Where in the spec the objects it stands for are said, most particular first. Absent, or none: nowhere in particular. */
  readonly fieldPaths?: (spec: unknown, object: Pick<MetadataObject, 'key' | 'kind'>) => readonly FieldPath[];
  /** The inverse: the resources that stand for objects of this kind. What a spec cannot say may be wrong in it: whoever asks
   *  translates it and compares. Absent: nothing is described by this kind. */
  readonly describe?: (inventory: Inventory) => readonly ResourceDraft[];
};

/** A row whose functions know the type of its spec. */
export function kindRow<S extends TSchema>(
  row: Omit<KindRow, 'scope' | 'spec' | 'target' | 'translate' | 'fieldPaths'> & {
    readonly spec: S;
    readonly target: (spec: Static<S>) => string;
    readonly translate: (spec: Static<S>, context: TranslateContext) => readonly MetadataObject[];
    readonly fieldPaths?: (
      spec: Static<S>,
      object: Pick<MetadataObject, 'key' | 'kind'>,
    ) => readonly FieldPath[];
  },
): KindRow {
  return { ...row, scope: 'Namespaced' } as unknown as KindRow;
}

const EngineRef = withDescription(
  'The Engine this belongs to; without a namespace the one in the same namespace.',
  closed({ name: Name, namespace: Type.Optional(Name) }),
);
export const DriftPolicy = withDescription(
  'What happens when an owned object was changed by hand: Correct (as when absent), Report, Ignore.',
  Type.Union([Type.Literal('Correct'), Type.Literal('Report'), Type.Literal('Ignore')]),
);
export const AdoptionPolicy = withDescription(
  'May objects that exist already be taken over: IfEqual (as when absent), Always, Never.',
  Type.Union([Type.Literal('IfEqual'), Type.Literal('Always'), Type.Literal('Never')]),
);
export const DeletionPolicySchema = withDescription(
  'What becomes of the objects when this resource is deleted: Delete, or Retain. Retain has an effect only in the namespace of the ' +
    'Engine.',
  Type.Union([Type.Literal('Delete'), Type.Literal('Retain')]),
);

/** A spec with the fields every kind but Engine has; `rules` are about its own. */
export function specOf<P extends TProperties>(kind: string, properties: P, ...rules: readonly Rule[]) {
  return closed(
    {
      engineRef: EngineRef,
      ...properties,
      suspend: Type.Optional(
        Type.Boolean({ description: 'Leave the objects of this resource as they are for now.' }),
      ),
      driftPolicy: Type.Optional(DriftPolicy),
      adoptionPolicy: Type.Optional(AdoptionPolicy),
      deletionPolicy: Type.Optional(DeletionPolicySchema),
      waitForDeletion: Type.Optional(
        Type.Boolean({
          description:
            'When it is deleted, stay until the engine is without the objects, at most for some minutes; needs ' +
            'operator.waitingDeletion of the chart.',
        }),
      ),
    },
    immutable('engineRef', `create a new ${kind} object for another engine`),
    ...rules,
  );
}

const CONDITION = (type: string, field: string) => `.status.conditions[?(@.type=="${type}")].${field}`;

export const READY_COLUMNS: readonly PrinterColumn[] = [
  { name: 'Ready', type: 'string', jsonPath: CONDITION('Ready', 'status') },
  { name: 'Reason', type: 'string', jsonPath: CONDITION('Ready', 'reason') },
];
const AGE: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };
const MESSAGE: PrinterColumn = {
  name: 'Message',
  type: 'string',
  jsonPath: CONDITION('Ready', 'message'),
  priority: 1,
};

/** Columns of every kind but Engine. */
export const OBJECT_COLUMNS: readonly PrinterColumn[] = [
  ...READY_COLUMNS,
  { name: 'Engine', type: 'string', jsonPath: '.spec.engineRef.name' },
  { name: 'Target', type: 'string', jsonPath: '.status.target', description: 'What it is about.' },
  { name: 'Drift', type: 'string', jsonPath: CONDITION('Drifted', 'status') },
  AGE,
  MESSAGE,
  { name: 'Last-Applied', type: 'date', jsonPath: '.status.lastAppliedTime', priority: 1 },
];

export const ENGINE_COLUMNS: readonly PrinterColumn[] = [
  ...READY_COLUMNS,
  { name: 'Version', type: 'integer', jsonPath: '.status.resourceVersion', description: 'Of the metadata.' },
  { name: 'Owned', type: 'integer', jsonPath: '.status.objects.owned' },
  { name: 'Failing', type: 'integer', jsonPath: '.status.objects.failing' },
  AGE,
  MESSAGE,
];
