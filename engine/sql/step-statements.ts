/** Insert steps → statements, where steps of one shape are composed and compiled once: those of ten thousand equal objects differ in the
 *  values of their parameters only, and share one text.
 *  In: a step, and the function that composes its statement. Out: a Statement. Not here: the SQL of a step (nested-write.ts). */
import { isColumnwise } from '../plan/insert-pieces.ts';
import type { Insert, InsertStep } from '../plan/mutation-types.ts';
import type { Leaf } from '../resolve/predicate.ts';
import { compile, type Fragment, type Statement } from './fragment.ts';

/** The index of the step in placeholders, which no step has. */
const PLACEHOLDER = -1;

export class StepStatements {
  /** The statement of each shape, with placeholders in place of its values. */
  readonly #shapes = new Map<string, Statement>();
  /** The numbers of objects that are part of a shape by identity. */
  readonly #numbers = new Map<object, number>();

  statementOf(step: InsertStep, compose: (step: InsertStep) => Fragment): Statement {
    const { insert } = step;
    const key = this.#keyOf(step);
    let shape = this.#shapes.get(key);
    if (!shape) {
      shape = compile(compose({ ...step, insert: { ...insert, rows: placeholders(insert) } }));
      this.#shapes.set(key, shape);
    }
    return { ...shape, parameters: shape.parameters.map((leaf) => filledIn(leaf, insert)) };
  }

  #keyOf({ insert, keeps, isAnswered }: InsertStep): string {
    const { table, columns, onConflict, check } = insert;
    const identities = [table, check, ...(onConflict ? [onConflict] : [])].map((each) =>
      this.#numberOf(each),
    );
    const names = columns.map(({ column }) => column);
    return JSON.stringify([identities, names, keeps, isAnswered, patternOf(insert)]);
  }

  #numberOf(object: object): number {
    const number = this.#numbers.get(object) ?? this.#numbers.size;
    this.#numbers.set(object, number);
    return number;
  }
}

/** Returns the part of the text that depends on the rows: how many there are, and which columns they leave to their defaults. */
function patternOf(insert: Insert): string {
  if (isByColumn(insert)) return 'columns';
  return insert.rows.map((row) => row.map((value) => (value === 'default' ? 'd' : 'v')).join('')).join();
}

function isByColumn(insert: Insert): boolean {
  return insert.columns.length > 0 && isColumnwise(insert);
}

/** Returns rows of placeholders, each with the index of its cell. By column, the number of rows is not part of the text. */
function placeholders(insert: Insert): Insert['rows'] {
  const width = insert.columns.length;
  const placeholder = (value: Leaf | 'default', index: number): Leaf | 'default' =>
    value === 'default' ? value : { kind: 'inserted', step: PLACEHOLDER, kept: index, type: value.type };
  if (isByColumn(insert)) {
    const row = insert.rows[0]!.map(placeholder);
    return [row, row];
  }
  return insert.rows.map((row, r) => row.map((value, c) => placeholder(value, r * width + c)));
}

/** Returns a parameter of the shape with the values of an insert. */
function filledIn(leaf: Leaf, { rows, columns }: Insert): Leaf {
  if (isPlaceholder(leaf))
    return rows[Math.floor(leaf.kept / columns.length)]![leaf.kept % columns.length] as Leaf;
  const first = leaf.kind === 'list' ? leaf.items[0] : undefined;
  if (leaf.kind !== 'list' || !first || !isPlaceholder(first)) return leaf;
  return { ...leaf, items: rows.map((row) => row[first.kept] as Leaf) };
}

function isPlaceholder(leaf: Leaf): leaf is Extract<Leaf, { kind: 'inserted' }> {
  return leaf.kind === 'inserted' && leaf.step === PLACEHOLDER;
}
