/** The metadata objects of a resource: which part of its spec is which object. Translation, description and field paths derive from the parts
 *  and from the mappings of the spec.
 *  In: the schema of a spec, its parts. Out: the objects of a spec and back. Pure.
 *  Not here: the parts of each kind (its file), the mappings (mapping.ts). */
import {
  isRecord,
  type MetadataObject,
  OBJECTS,
  type ObjectKind,
  objectKey,
  type PathStep,
  parentKeyOf,
  parseKey,
  type TSchema,
} from '@pergola/engine/metadata';
import type { DescribeContext, FieldValues, TranslateContext } from './mapping.ts';
import {
  described,
  describedObject,
  NO_SECRETS,
  pathInFields,
  writtenField,
  writtenObject,
} from './projection.ts';

/** A metadata object, or a list of objects of one kind, that a spec declares. */
export type ObjectPart = {
  readonly kind: ObjectKind;
  /** The path in the spec of the value that is the object, or of the list of objects: `permissions`. Absent: the spec itself. */
  readonly at?: string;
  /** The fields whose values are the last segments of the key; those of the parent are in front of them. Empty: those of the whole spec. */
  readonly key: readonly (string | ((spec: FieldValues) => string))[];
  /** The field without which there is no object. The parts at one path share the other fields. */
  readonly when?: string;
  /** Returns members that follow from the whole spec, or that every object has. */
  readonly members?: (spec: FieldValues) => FieldValues;
};

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

export type DraftOptions = {
  /** Returns the name of a draft from the segments of the key of its object. Absent: the last one. */
  readonly name?: (segments: readonly string[], part: ObjectPart | undefined) => string;
  /** Returns the key of a Secret for the text at a path of the spec. */
  readonly secretKey?: (path: readonly PathStep[], definition: unknown) => string;
};

type Properties = Readonly<Record<string, TSchema>>;

/** An object of a spec before it is translated. */
type Declared = { readonly part: ObjectPart; readonly item: FieldValues; readonly path: string };

export class Parts {
  readonly #schema: TSchema;
  readonly #parts: readonly ObjectPart[];
  readonly #root: ObjectPart | undefined;
  /** The fields of the objects of each part. */
  readonly #fields: ReadonlyMap<ObjectPart, Properties>;

  constructor(schema: TSchema, parts: readonly ObjectPart[]) {
    this.#schema = schema;
    this.#parts = parts;
    this.#root = parts.find(({ at }) => at === undefined);
    this.#fields = new Map(parts.map((part) => [part, fieldsOf(schema, part, parts)]));
  }

  /** Returns the metadata objects of a spec. */
  translate(spec: FieldValues, context: TranslateContext): readonly MetadataObject[] {
    return this.#declaredIn(spec).map((declared) => {
      const { part, item, path } = declared;
      const key = this.#keyOf(declared, spec);
      const own = writtenObject(this.#fields.get(part)!, item, { context, path });
      const definition = part.members ? { ...own, ...part.members(spec) } : own;
      return { key, kind: part.kind, parent: parentKeyOf(key), definition };
    });
  }

  /** Returns the field of the spec for a path in the definition of an object; undefined when no single field has it. */
  fieldAt(
    spec: FieldValues,
    { key, kind }: Pick<MetadataObject, 'key' | 'kind'>,
    path: readonly PathStep[],
  ): string | undefined {
    const part = this.#parts.find((candidate) => candidate.kind === kind);
    if (!part) return undefined;
    const whole = { part, item: spec, path: 'spec' };
    const declared = part.at
      ? this.#declaredIn(spec).find((one) => one.part === part && this.#keyOf(one, spec) === key)
      : whole;
    if (!declared) return undefined;
    const inner = path.length > 0 ? pathInFields(this.#fields.get(part)!, declared.item, path) : undefined;
    const fallback = part.when && `.${part.when}`;
    return part.at || (inner ?? fallback) !== undefined
      ? `${declared.path}${inner ?? fallback ?? ''}`
      : undefined;
  }

  /** Returns a resource for each object that is one with its nested objects; without such objects, one for all parts of the document. */
  describe(inventory: Inventory, options: DraftOptions = {}): readonly ResourceDraft[] {
    const { name = lastOf } = options;
    if (!this.#root) {
      const spec = this.#itemsOf(inventory, noSecret);
      return Object.keys(spec).length === 0 ? [] : [{ name: name([], undefined), spec }];
    }
    return this.#parts
      .filter(({ at }) => at === undefined)
      .flatMap((part) =>
        inventory.all(part.kind).map((object) => this.#draftOf(part, object, inventory, options)),
      );
  }

  #draftOf(
    part: ObjectPart,
    { key, definition }: MetadataObject,
    inventory: Inventory,
    { name = lastOf, secretKey }: DraftOptions,
  ): ResourceDraft {
    const fields = this.#fields.get(part)!;
    const segments = parseKey(key)?.segments ?? [];
    const secrets: Record<string, string> = {};
    const keep: DescribeContext['keep'] = (text, path) => {
      const own = secretKey!(path, definition);
      secrets[own] = text;
      return { secretKeyRef: { name: OWN_SECRET, key: own } };
    };
    const names = part.key.flatMap((field, i) =>
      typeof field === 'string'
        ? [[field, described(fields[field]!, segments[i], { path: [field], keep })]]
        : [],
    );
    const own = describedObject(fields, definition, { path: [], keep });
    const items = this.#itemsOf(inventory, keep, key);
    const spec = this.#inOrder({ ...own, ...Object.fromEntries(names), ...items });
    return { name: name(segments, part), spec, ...(secretKey ? { secrets } : {}) };
  }

  /** Returns the fields of a spec for the objects that are not the whole spec: those of `owner`, or of the document. */
  #itemsOf(inventory: Inventory, keep: DescribeContext['keep'], owner?: string): FieldValues {
    const spec: Record<string, unknown> = {};
    for (const [at, parts] of Map.groupBy(this.#parts, (part) => part.at)) {
      if (at === undefined) continue;
      const items = parts.flatMap((part) => this.#itemsOfPart(part, inventory, keep, owner));
      const merged = [...Map.groupBy(items, ({ id }) => id).values()].map(([first, ...others]) =>
        this.#inOrder({ ...first!.fields, ...Object.assign({}, ...others.map(({ own }) => own)) }, at),
      );
      const isList = shapeAt(this.#schema, at).items !== undefined;
      if (merged.length > 0) setAt(spec, at.split('.'), isList ? merged : merged[0]);
    }
    return spec;
  }

  #objectsOf(
    { kind, key: names }: ObjectPart,
    inventory: Inventory,
    owner: string | undefined,
  ): readonly MetadataObject[] {
    if (owner === undefined) return inventory.all(kind);
    if (names.length > 0) return inventory.under(owner, kind);
    const own = objectKey(kind, ...(parseKey(owner)?.segments ?? []));
    return inventory.all(kind).filter(({ key }) => key === own);
  }

  /** Returns the objects of a part as items of the spec: all fields, and those that no other part has. */
  #itemsOfPart(
    part: ObjectPart,
    inventory: Inventory,
    keep: DescribeContext['keep'],
    owner: string | undefined,
  ) {
    const objects = this.#objectsOf(part, inventory, owner);
    return objects.map(({ key, definition }, i) => {
      const path = [...part.at!.split('.'), i];
      const fields = describedObject(this.#fields.get(part)!, definition, { path, keep });
      const own = part.when === undefined ? fields : { [part.when]: fields[part.when] };
      return { id: key.slice(key.indexOf('/')), fields, own };
    });
  }

  /** Returns the fields of a spec, or of an item of it, in the order of their declaration. */
  #inOrder(fields: FieldValues, at?: string): FieldValues {
    const names = Object.keys(propertiesAt(this.#schema, at));
    return Object.fromEntries(names.flatMap((name) => (name in fields ? [[name, fields[name]]] : [])));
  }

  /** Returns the objects that a spec declares, in the order of the parts. */
  #declaredIn(spec: FieldValues): readonly Declared[] {
    const groups = [...Map.groupBy(this.#parts, ({ at }) => at)];
    return groups.flatMap(([at, parts]) => {
      const value = valueAt(spec, at);
      const items = Array.isArray(value) ? value : value === undefined ? [] : [value];
      const base = at === undefined ? 'spec' : `spec.${at}`;
      return items.flatMap((item: FieldValues, i) =>
        parts
          .filter(({ when }) => when === undefined || item[when] !== undefined)
          .map((part) => ({ part, item, path: Array.isArray(value) ? `${base}[${i}]` : base })),
      );
    });
  }

  #keyOf(declared: Declared, spec: FieldValues): string {
    const { part } = declared;
    const root = this.#root;
    const isNested = OBJECTS[part.kind].parent === root?.kind || part.key.length === 0;
    const owner =
      root && part.at !== undefined && isNested
        ? this.#namesOf({ part: root, item: spec, path: 'spec' })
        : [];
    return objectKey(part.kind, ...owner, ...this.#namesOf(declared));
  }

  #namesOf({ part, item }: Declared): readonly string[] {
    const fields = this.#fields.get(part)!;
    return part.key.map((name) => {
      if (typeof name === 'function') return name(item);
      return String(writtenField(fields[name]!, name, item, NO_SECRETS) ?? '');
    });
  }
}

/** Returns the fields of an object: those at its path in the spec, without those of other parts there. */
export function fieldsOf(
  schema: TSchema,
  { at, when }: ObjectPart,
  parts: readonly ObjectPart[],
): Properties {
  const others = new Set(
    parts.map((other) => {
      if (at === undefined && other.at !== undefined) return other.at.split('.')[0];
      return other.at === at && other.when !== when ? other.when : undefined;
    }),
  );
  const fields = Object.entries(propertiesAt(schema, at));
  return Object.fromEntries(fields.filter(([name]) => !others.has(name)));
}

function lastOf(segments: readonly string[]): string {
  return segments.at(-1) ?? '';
}

const noSecret: DescribeContext['keep'] = (value) => ({ value });

type Shape = { readonly properties?: Properties; readonly items?: { readonly properties?: Properties } };

function shapeAt(schema: TSchema, at: string | undefined): Shape {
  const steps = at?.split('.') ?? [];
  return steps.reduce<Shape>((owner, step) => owner.properties?.[step] ?? {}, schema);
}

function propertiesAt(schema: TSchema, at: string | undefined): Properties {
  const shape = shapeAt(schema, at);
  return (shape.items ?? shape).properties ?? {};
}

function valueAt(spec: FieldValues, at: string | undefined): unknown {
  const steps = at?.split('.') ?? [];
  return steps.reduce<unknown>((owner, step) => (isRecord(owner) ? owner[step] : undefined), spec);
}

/** Sets a value at a path, with the objects around it. */
function setAt(spec: Record<string, unknown>, [step = '', ...rest]: readonly string[], value: unknown): void {
  const inner: Record<string, unknown> = {};
  spec[step] = rest.length === 0 ? value : inner;
  if (rest.length > 0) setAt(inner, rest, value);
}
