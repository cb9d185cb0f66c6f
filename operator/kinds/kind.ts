/** The type of the rows of KINDS, and the fields that all specs share.
 *  Not here: the rows (../kinds.ts). */
import {
  type MetadataObject,
  type PathStep,
  type Static,
  type TProperties,
  type TSchema,
  Type,
} from '@pergola/engine/metadata';
import { closed, Name, type Rule, withDescription } from './annotate.ts';
import { type FieldValues, mappedTo, optional, required, type TranslateContext } from './mapping.ts';
import { type DraftOptions, type Inventory, type ObjectPart, Parts, type ResourceDraft } from './parts.ts';
import type { Reason } from './reasons.ts';

export type PrinterColumn = {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date' | 'boolean';
  readonly jsonPath: string;
  readonly description?: string;
  /** 1 shows the column only with `-o wide`. */
  readonly priority?: 0 | 1;
};

export type { MetadataValue, TranslateContext, ValueSource } from './mapping.ts';
export { type Inventory, OWN_SECRET, type ResourceDraft } from './parts.ts';

/** The reason why a resource cannot be translated, with the message for its status. */
export class SpecProblem extends Error {
  readonly reason: Reason;

  constructor(reason: Reason, message: string) {
    super(message);
    this.reason = reason;
  }
}

export type DeletionPolicy = 'Delete' | 'Retain';

export type KindRow<Spec = unknown> = {
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
  /** The objects that the spec declares. */
  readonly objects: readonly ObjectPart[];
  /** Returns the content of the column Target. */
  readonly target: (spec: Spec) => string;
  /** Returns the metadata objects of a resource. `spec` fits the schema. */
  readonly translate: (spec: Spec, context: TranslateContext) => readonly MetadataObject[];
  /** Returns the field of the spec that a path in the definition of an object is about; undefined when no single field is. */
  readonly fieldAt: (
    spec: Spec,
    object: Pick<MetadataObject, 'key' | 'kind'>,
    path: readonly PathStep[],
  ) => string | undefined;
  /** Returns resources for the objects of this kind, the inverse of `translate`. A spec may be inexact when the kind cannot express an
   *  object: callers translate it again and compare. */
  readonly describe: (inventory: Inventory) => readonly ResourceDraft[];
  /** Returns the webhook call that a resource declares, whose delivery its status reports. Absent: the kind declares no single call. */
  readonly delivery?: (spec: Spec) => DeclaredCall;
  /** Returns objects that a grant must cover although the resource does not define them. Absent: a grant covers the defined objects. */
  readonly governs?: (spec: Spec) => readonly MetadataObject[];
  /** The purpose of a kind whose resources do more than declare objects. The pass runs a `migration` before it changes the resources of its
   *  source. A `test` has no objects, and the condition Passed of its status says what came of it. */
  readonly purpose?: Purpose;
  /** Returns where a resource has its content, if that is not in the spec or a value that it names. Absent: the kind has no other content. */
  readonly contentOf?: (spec: Spec) => Content | undefined;
};

export type Purpose = 'engine' | 'migration' | 'test';
/** `config-map`: all keys of a ConfigMap. `artifact`: an artifact of a registry, which the operator downloads. */
type Content = 'config-map' | 'artifact';

/** A call of a webhook at one time; name and time identify it in the engine. */
export type DeclaredCall = { readonly name: string; readonly time: Date };

/** The declaration of a kind. */
type GivenRow<S extends TSchema> = Omit<
  KindRow<Static<S>>,
  | 'singular'
  | 'plural'
  | 'scope'
  | 'columns'
  | 'deletionPolicy'
  | 'spec'
  | 'objects'
  | 'translate'
  | 'fieldAt'
  | 'describe'
> &
  Partial<Pick<KindRow<Static<S>>, 'plural' | 'columns' | 'deletionPolicy' | 'fieldAt'>> & {
    readonly spec: S;
    readonly objects?: readonly ObjectPart[];
    readonly drafts?: DraftOptions;
    /** Returns the objects of a spec, given a function for those of `objects`. */
    readonly translate?: (
      spec: Static<S>,
      context: TranslateContext,
      own: () => readonly MetadataObject[],
    ) => readonly MetadataObject[];
    /** Returns the drafts for a document, given those for `objects`. */
    readonly describe?: (inventory: Inventory, own: readonly ResourceDraft[]) => readonly ResourceDraft[];
  };

/** Returns a row. What it does not declare follows from its name, its objects and the mappings of its spec. */
export function kindRow<S extends TSchema>({
  objects = [],
  drafts,
  translate = (_spec, _context, own) => own(),
  describe = (_inventory, own) => own,
  ...row
}: GivenRow<S>): KindRow {
  const parts = new Parts(row.spec, objects);
  const singular = row.kind.toLowerCase();
  const derived: KindRow<Static<S>> = {
    singular,
    plural: `${singular}s`,
    scope: 'Namespaced',
    objects,
    columns: OBJECT_COLUMNS,
    deletionPolicy: 'Delete',
    fieldAt: (spec, object, path) => parts.fieldAt(spec as FieldValues, object, path),
    ...row,
    translate: (spec, context) =>
      translate(spec, context, () => parts.translate(spec as FieldValues, context)),
    describe: (inventory) => describe(inventory, parts.describe(inventory, drafts)),
  };
  return derived as KindRow;
}

const EngineRef = optional(
  'The Engine of this resource. Absent: the Engine that the annotation pergola.dev/default-engine of the namespace names, else the only ' +
    'Engine of the namespace.',
  closed({
    name: required('The name of the Engine, for example main.', Name),
    namespace: optional(
      'The namespace of the Engine. Absent: the namespace of this resource. The Engine must allow other namespaces.',
      Name,
    ),
  }),
  null,
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
  return closed({ engineRef: EngineRef, ...properties }, ...rules);
}

/** Returns the schema of a spec with the fields of every kind that has objects. `rules` apply to the fields of the kind. */
export function specOf<P extends TProperties>(properties: P, ...rules: readonly Rule[]) {
  return closed(
    {
      engineRef: EngineRef,
      ...properties,
      suspend: optional(
        'Pauses this resource: its objects are not changed. Absent: false.',
        Type.Boolean(),
        null,
      ),
      driftPolicy: Type.Optional(mappedTo(null, DriftPolicy)),
      adoptionPolicy: Type.Optional(mappedTo(null, AdoptionPolicy)),
      deletionPolicy: Type.Optional(mappedTo(null, DeletionPolicySchema)),
      waitForDeletion: optional(
        'Keeps a deleted resource until its objects are deleted from the engine, for a few minutes at most. Needs ' +
          'operator.waitingDeletion in the chart. Absent: false.',
        Type.Boolean(),
        null,
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
