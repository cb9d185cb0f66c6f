/** The type of the rows of KINDS, and the fields that all specs share.
 *  Not here: the rows (../kinds.ts). */
import type { MetadataObject, ObjectKind } from '@pergola/engine/metadata';
import { type Static, type TProperties, type TSchema, Type } from '@pergola/engine/metadata';
import { closed, Name, type Rule, withDescription } from './annotate.ts';
import type { FieldPath } from './field-path.ts';
import type { Reason } from './reasons.ts';

export type PrinterColumn = {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date' | 'boolean';
  readonly jsonPath: string;
  readonly description?: string;
  /** 1 shows the column only with `-o wide`. */
  readonly priority?: 0 | 1;
};

type KeyRef = { readonly name: string; readonly key: string };

/** A value that the resource contains or refers to. Exactly one field is set. */
export type ValueSource = {
  readonly value?: string | undefined;
  readonly secretKeyRef?: KeyRef | undefined;
  readonly configMapKeyRef?: KeyRef | undefined;
  readonly env?: string | undefined;
  readonly file?: string | undefined;
};

/** A value as the metadata contains it: text, or where the engine reads it: an environment variable, its store of named values, or a file. */
export type MetadataValue =
  | string
  | { readonly from_env: string }
  | { readonly from_value: string }
  | { readonly from_file: string };

export type TranslateContext = {
  /** Returns the value as the metadata contains it. `path` is that of the source in the spec. Throws SpecProblem when the value cannot be
   *  read. */
  readonly valueFrom: (source: ValueSource, path: string) => MetadataValue;
};

/** The reason why a resource cannot be translated, with the message for its status. */
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
  /** Returns the objects nested in the object with the key. */
  readonly under: (parent: string, kind: ObjectKind) => readonly MetadataObject[];
};

/** A resource to write, without the fields that all kinds have. Null values and empty lists count as absent. */
export type ResourceDraft = {
  /** The text that the name of the resource is derived from. */
  readonly name: string;
  readonly spec: object;
  /** The values of its Secret, by the key of a `secretKeyRef` whose name is OWN_SECRET. */
  readonly secrets?: Readonly<Record<string, string>>;
};

/** A placeholder for the name of the Secret that belongs to a draft. It is replaced when the resource gets its name. */
export const OWN_SECRET = '';

export type DeletionPolicy = 'Delete' | 'Retain';

export type KindRow = {
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly scope: 'Namespaced';
  readonly description: string;
  /** `engine`: resources of the kind affect the engine as a whole. They are for administrators: the role `edit` of the chart does not
   *  cover them, and other namespaces need a grant that names the kind. `object`: they concern single metadata objects. */
  readonly concerns: 'engine' | 'object';
  /** The schema of `spec`, with rules as `x-kubernetes-validations`. */
  readonly spec: TSchema;
  readonly columns: readonly PrinterColumn[];
  readonly selectableFields: readonly string[];
  /** The default of `deletionPolicy`. */
  readonly deletionPolicy: DeletionPolicy;
  /** Returns the content of the column Target. */
  readonly target: (spec: unknown) => string;
  /** Returns the metadata objects of a resource. `spec` fits the schema. */
  readonly translate: (spec: unknown, context: TranslateContext) => readonly MetadataObject[];
  /** Returns the fields of the spec that define an object, from specific to general. Absent or empty when no single field does. */
  readonly fieldPaths?: (spec: unknown, object: Pick<MetadataObject, 'key' | 'kind'>) => readonly FieldPath[];
  /** Returns resources for the objects of this kind, the inverse of `translate`. A spec may be inexact when the kind cannot express an
   *  object: callers translate it again and compare. Absent: the kind describes no objects. */
  readonly describe?: (inventory: Inventory) => readonly ResourceDraft[];
  /** Returns the webhook call that a resource declares, whose delivery its status reports. Absent: the kind declares no single call. */
  readonly delivery?: (spec: unknown) => DeclaredCall;
  /** Returns objects that a grant must cover although the resource does not define them. Absent: a grant covers the defined objects. */
  readonly governs?: (spec: unknown) => readonly MetadataObject[];
  /** Present for migrations: the pass runs them before it changes the resources of their source. */
  readonly isMigration?: true;
  /** Present for tests: their resources have no objects, and the condition Passed of their status says what came of them. */
  readonly isTest?: true;
};

/** A call of a webhook at one time; name and time identify it in the engine. */
export type DeclaredCall = { readonly name: string; readonly time: Date };

/** Returns a row whose functions are typed by its spec. */
export function kindRow<S extends TSchema>(
  row: Omit<KindRow, 'scope' | 'spec' | 'target' | 'translate' | 'fieldPaths' | 'delivery' | 'governs'> & {
    readonly spec: S;
    readonly target: (spec: Static<S>) => string;
    readonly translate: (spec: Static<S>, context: TranslateContext) => readonly MetadataObject[];
    readonly fieldPaths?: (
      spec: Static<S>,
      object: Pick<MetadataObject, 'key' | 'kind'>,
    ) => readonly FieldPath[];
    readonly delivery?: (spec: Static<S>) => DeclaredCall;
    readonly governs?: (spec: Static<S>) => readonly MetadataObject[];
  },
): KindRow {
  return { ...row, scope: 'Namespaced' } as unknown as KindRow;
}

const EngineRef = withDescription(
  'The Engine of this resource. Absent: the Engine that the annotation pergola.dev/default-engine of the namespace names, else the only ' +
    'Engine of the namespace.',
  closed({
    name: withDescription('The name of the Engine, for example main.', Name),
    namespace: Type.Optional(
      withDescription(
        'The namespace of the Engine. Absent: the namespace of this resource. The Engine must allow other namespaces.',
        Name,
      ),
    ),
  }),
);
export const DriftPolicy = withDescription(
  'What happens when another client changed an object of a resource: Correct writes the object of the resource again, Report names the ' +
    'difference in the status, Ignore does nothing. Absent: spec.policies.drift of the Engine, else Correct.',
  Type.Union([Type.Literal('Correct'), Type.Literal('Report'), Type.Literal('Ignore')]),
);
export const AdoptionPolicy = withDescription(
  'Whether an object that exists already becomes one of the resource: IfEqual if it is as the resource says, Always, Never. Absent: ' +
    'spec.policies.adoption of the Engine, else IfEqual.',
  Type.Union([Type.Literal('IfEqual'), Type.Literal('Always'), Type.Literal('Never')]),
);
export const DeletionPolicySchema = withDescription(
  'What happens to the objects of a deleted resource: Delete, or Retain, which keeps them in the engine and has an effect only in the ' +
    'namespace of the Engine. Absent: spec.policies.deletion of the Engine, else Retain for sources and Delete for everything else.',
  Type.Union([Type.Literal('Delete'), Type.Literal('Retain')]),
);

/** Returns the schema of a spec of a kind without objects: of the common fields it has only the Engine. */
export function specWithoutObjects<P extends TProperties>(properties: P, ...rules: readonly Rule[]) {
  return closed({ engineRef: Type.Optional(EngineRef), ...properties }, ...rules);
}

/** Returns the schema of a spec with the fields of every kind that has objects. `rules` apply to the fields of the kind. */
export function specOf<P extends TProperties>(properties: P, ...rules: readonly Rule[]) {
  return closed(
    {
      engineRef: Type.Optional(EngineRef),
      ...properties,
      suspend: Type.Optional(
        Type.Boolean({ description: 'Pauses this resource: its objects are not changed. Absent: false.' }),
      ),
      driftPolicy: Type.Optional(DriftPolicy),
      adoptionPolicy: Type.Optional(AdoptionPolicy),
      deletionPolicy: Type.Optional(DeletionPolicySchema),
      waitForDeletion: Type.Optional(
        Type.Boolean({
          description:
            'Keeps a deleted resource until its objects are deleted from the engine, for a few minutes at most. Needs ' +
            'operator.waitingDeletion in the chart. Absent: false.',
        }),
      ),
    },
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

const wide = (name: string, jsonPath: string, description: string, type: PrinterColumn['type'] = 'string') =>
  ({ name, type, jsonPath, description, priority: 1 }) as const;

/** The columns of every kind but Engine. Those without `-o wide` fit 80 columns beside a name of 24 characters. */
export const OBJECT_COLUMNS: readonly PrinterColumn[] = [
  ...READY_COLUMNS,
  { name: 'Drift', type: 'string', jsonPath: CONDITION('Drifted', 'status') },
  AGE,
  wide('Target', '.status.target', 'The object it describes.'),
  wide('Engine', '.spec.engineRef.name', 'The Engine it names.'),
  wide('Last-Applied', '.status.lastAppliedTime', 'The time of the last write of its objects.', 'date'),
  MESSAGE,
];

export const ENGINE_COLUMNS: readonly PrinterColumn[] = [
  ...READY_COLUMNS,
  { name: 'Failing', type: 'integer', jsonPath: '.status.notReady' },
  AGE,
  wide('Owned', '.status.objects.owned', 'Objects that resources own.', 'integer'),
  wide('Version', '.status.engineVersion', 'The version of the engine.'),
  wide('Metadata', '.status.resourceVersion', 'The version of the metadata.', 'integer'),
  MESSAGE,
];
