/** Leaves × session × request variables → the values a statement is run with, all as text (or arrays of text).
 *  Variables have been validated (plan/variables.ts), so the only thing that can be wrong here is a session variable that
 *  did not come: `missingSessionVariable`. */
import type { PgType } from '../catalog/types.ts';
import { fail, type PathStep } from '../errors/engine-error.ts';
import type { Leaf } from '../resolve/predicate.ts';
import type { Session } from '../resolve/session.ts';

export type BoundValue = string | null | readonly BoundValue[];
export type Variables = Readonly<Record<string, unknown>>;

export function bind(parameters: readonly Leaf[], session: Session, variables: Variables): BoundValue[] {
  return parameters.map((leaf) => bindLeaf(leaf, session, variables));
}

function bindLeaf(leaf: Leaf, session: Session, variables: Variables): BoundValue {
  switch (leaf.kind) {
    case 'constant':
      return leaf.value;
    case 'session':
      return session.variables[leaf.variable] ?? fail('missingSessionVariable', { name: leaf.variable });
    case 'variable':
      return toText(valueAt(leaf.path, variables), leaf.type);
    case 'list':
      return leaf.items.map((item) => bindLeaf(item, session, variables));
    default:
      return leaf satisfies never;
  }
}

function valueAt(path: readonly PathStep[], variables: Variables): unknown {
  let value: unknown = variables;
  for (const step of path) value = (value as Record<PathStep, unknown> | null | undefined)?.[step];
  return value;
}

/** A JSON value as Postgres reads it in text form. */
export function toText(value: unknown, type: PgType): BoundValue {
  if (value === null || value === undefined) return null;
  if (isJson(type)) return JSON.stringify(value);
  if (type.element) {
    const { element } = type;
    // A lone value where a list is expected is a list of one; text is a finished array literal.
    if (Array.isArray(value)) return value.map((item) => toText(item, element));
    return typeof value === 'string' ? value : [toText(value, element)];
  }
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function isJson(type: PgType): boolean {
  const real = type.base ?? type;
  return !real.element && real.schema === 'pg_catalog' && (real.name === 'json' || real.name === 'jsonb');
}
