/** The relationships and computed fields in the filters and checks of permissions whose meaning a change of the document alters: the text of a
 *  filter stays the same, but it follows the relationship to other rows.
 *  In: the keys of changed objects, the objects before and after. Out: the changed fields, and where an expression uses them.
 *  Only a database knows the table that a function leads to, and a foreign key without a relationship in the other direction. A name behind such
 *  a field may be any field of that name. Pure.
 *  Not here: comparing filters (compare-filters.ts), what else permissions use (used-objects.ts). */
import { isRecord, isSameJson, type JsonRecord } from '../../json/value.ts';
import { qualifiedOf } from '../bool-exp.ts';
import { namesInBoolExp } from '../bool-exp-names.ts';
import { namedTable } from '../dependencies.ts';
import { objectKey, parseKey } from '../objects.ts';
import type { QualifiedName } from '../schema/common.ts';
import { FIELD_KINDS, type FieldKind } from '../schema/marks.ts';
import type { Objects } from './inherited-access.ts';

/** A relationship or computed field that is another one after the change. */
export type ChangedField = {
  /** Null where the field may be one of several tables. */
  readonly table: QualifiedName | null;
  /** The subject of a sentence about the change: `the relationship author`. */
  readonly noun: string;
  /** The rest of the sentence: `leads elsewhere`. */
  readonly effect: string;
  /** The keys of the changed objects; where the field may be one of several, at most `MOST_CAUSES`. */
  readonly causes: readonly string[];
};

/** Thousands of permissions may use a name that thousands of tables have. */
const MOST_CAUSES = 100;

/** A field in an expression. `isCertain` is false where the table that the name belongs to is not known. */
export type FieldUse = { readonly field: ChangedField; readonly isCertain: boolean };

const RELATIONSHIP = { noun: 'relationship', effect: 'leads elsewhere', meaning: meaningOfUsing };
/** The kinds of fields that a name in a filter may stand for. `meaning` has what a filter depends on. */
const FIELDS: Readonly<
  Record<
    FieldKind,
    { readonly noun: string; readonly effect: string; readonly meaning: (definition: JsonRecord) => unknown }
  >
> = {
  object_relationship: RELATIONSHIP,
  array_relationship: RELATIONSHIP,
  computed_field: {
    noun: 'computed field',
    effect: 'calls its function in another way',
    meaning: ({ definition }) => withoutNulls(definition),
  },
  remote_relationship: {
    noun: 'remote relationship',
    effect: 'leads elsewhere',
    meaning: ({ definition }) => meaningOfRemote(definition),
  },
};

/** Returns the fields that exist before and after the change and mean something else. A field may become one of another kind. */
export function changedFields(changed: readonly string[], before: Objects, after: Objects): ChangedFields {
  const found = new Map<string, NamedField>();
  for (const key of changed) {
    const identity = parseKey(key);
    if (!identity || !(identity.kind in FIELDS)) continue;
    const [source, schema, table, name] = identity.segments as [string, string, string, string];
    const of = { source, table: { schema, name: table }, name };
    const id = idOf(of.source, of.table, name);
    const known = found.get(id);
    if (known) found.set(id, { ...known, causes: [...known.causes, key] });
    const [old, next] = [fieldIn(before, of), fieldIn(after, of)];
    if (known || !old || !next || isSameJson(old.meaning, next.meaning)) continue;
    const { noun, effect } = next;
    found.set(id, { ...of, noun: `the ${noun} ${name}`, effect, causes: [key] });
  }
  return new ChangedFields(found);
}

type FieldName = { readonly source: string; readonly table: QualifiedName; readonly name: string };
type NamedField = ChangedField & FieldName;

function fieldIn(objects: Objects, { source, table, name }: FieldName) {
  for (const kind of FIELD_KINDS) {
    const object = objects.get(objectKey(kind, source, table.schema, table.name, name));
    if (!object) continue;
    const { noun, effect, meaning } = FIELDS[kind];
    return {
      kind,
      noun,
      effect,
      meaning: meaning(object.definition as JsonRecord),
      target: namedTable(object),
    };
  }
  return undefined;
}

/** The changed fields, by their source, table and name. */
export class ChangedFields {
  readonly #byId: ReadonlyMap<string, ChangedField>;
  /** The field that a name in a source may stand for, where its table is not known. */
  readonly #byName: ReadonlyMap<string, ChangedField>;
  readonly #targets = new WeakMap<Objects, ForeignTargets>();

  constructor(byId: ReadonlyMap<string, NamedField>) {
    this.#byId = byId;
    const groups = Map.groupBy(byId.values(), ({ source, name }) => JSON.stringify([source, name]));
    this.#byName = new Map([...groups].map(([name, fields]) => [name, anyOf(fields)]));
  }

  get isEmpty(): boolean {
    return this.#byId.size === 0;
  }

  /** Returns the changed field of a table with the name. */
  find(source: string, table: QualifiedName, name: string): ChangedField | undefined {
    return this.#byId.get(idOf(source, table, name));
  }

  /** Returns the changed fields that an expression uses, each once. `table` has the rows that the expression is about; null for rows that have
   *  no relationships. */
  usedIn(
    expression: unknown,
    table: QualifiedName | null,
    source: string,
    objects: Objects,
  ): readonly FieldUse[] {
    const found = new Map<ChangedField, boolean>();
    const targets = this.#targets.get(objects) ?? foreignTargets(objects);
    this.#targets.set(objects, targets);
    const names = namesInBoolExp(expression, { source, table }, (source, table, name) => {
      const field = fieldIn(objects, { source, table, name });
      if (!field) return undefined;
      const linked = targets.get(foreignKeyId(source, table, field.meaning));
      return { ...field, target: field.target ?? (linked ? { source, table: linked } : undefined) };
    });
    for (const { name } of names) {
      if (name.kind === 'unknown') {
        const field = this.#byName.get(JSON.stringify([name.source, name.name]));
        if (field && !found.has(field)) found.set(field, false);
      } else if ('table' in name) {
        const field = this.find(name.source, name.table, name.name);
        if (field) found.set(field, true);
      }
    }
    return [...found].map(([field, isCertain]) => ({ field, isCertain }));
  }
}

function anyOf(fields: readonly NamedField[]): ChangedField {
  const [first, ...others] = fields as [NamedField, ...NamedField[]];
  if (others.length === 0) return first;
  const causes = fields.slice(0, MOST_CAUSES).flatMap((field) => field.causes);
  return { noun: first.noun, effect: first.effect, table: null, causes };
}

/** The table that the foreign key of each table and columns refers to. Null where relationships disagree. */
type ForeignTargets = ReadonlyMap<string, QualifiedName | null>;

/** Returns the tables that foreign keys refer to, as far as relationships in the other direction name them. */
function foreignTargets(objects: Objects): ForeignTargets {
  const found = new Map<string, QualifiedName | null>();
  for (const [key, { kind, definition }] of objects) {
    if (kind !== 'array_relationship' && kind !== 'object_relationship') continue;
    const meaning = meaningOfUsing(definition as JsonRecord);
    const table = isRecord(meaning) ? qualifiedOf(meaning['table']) : undefined;
    if (!table || !('columns' in (meaning as JsonRecord))) continue;
    const [source, schema, name] = parseKey(key)!.segments as [string, string, string];
    const id = foreignKeyId(source, table, meaning);
    const known = found.get(id);
    const target = { schema, name };
    found.set(id, known === undefined || isSameJson(known, target) ? target : null);
  }
  return found;
}

function foreignKeyId(source: string, { schema, name }: QualifiedName, meaning: unknown): string {
  return JSON.stringify([source, schema, name, isRecord(meaning) ? meaning['columns'] : undefined]);
}

function idOf(source: string, { schema, name }: QualifiedName, field: string): string {
  return JSON.stringify([source, schema, name, field]);
}

/** Returns the join of a relationship. In a filter, one related row and many are the same: some row exists. */
function meaningOfUsing({ using }: JsonRecord): unknown {
  const { manual_configuration: manual, foreign_key_constraint_on: key } = isRecord(using) ? using : {};
  if (isRecord(manual)) {
    const { remote_table: table, remote_native_query: query, column_mapping: mapping } = manual;
    return withoutNulls({ table, query, mapping });
  }
  const { table = null, columns } = isRecord(key) ? key : { columns: key };
  return { table, columns: Array.isArray(columns) ? columns.toSorted() : columns };
}

/** Returns the join to rows of another source. A filter cannot use a remote relationship to a remote schema. */
function meaningOfRemote(definition: unknown): unknown {
  const to = isRecord(definition) ? definition['to_source'] : undefined;
  if (!isRecord(to)) return null;
  const { source, table, field_mapping: mapping } = to;
  return { source, table, mapping };
}

function withoutNulls(value: unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, item]) => (item ?? null) !== null));
}
