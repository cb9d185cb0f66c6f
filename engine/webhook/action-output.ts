/** Validates the answer of an action's webhook against its type, and returns the selected part as JSON text. Both walk the answer in
 *  the same order, so that the n-th object belongs to the n-th joined row.
 *  Not here: calling (action.ts), planning (plan/action.ts). Reference: docs/reference/behaviour/actions.md; messages: docs/reference/behaviour/errors.md. */

import { isNumber, wholeText } from '../json/number.ts';
import { isRecord, nameOfJson } from '../json/value.ts';
import { own } from '../metadata/own.ts';
import type { OutputField, OutputPlan } from '../plan/action-types.ts';
import type { TypeUse } from '../resolve/model/custom-type.ts';

type Json = Readonly<Record<string, unknown>>;

/** The joined rows: for each join one object per parent. */
export type JoinedRows = readonly (readonly Json[])[];

/** Collects the objects that rows are joined to, by join. Calls `refuse` with the first problem. */
export function checkOutput(
  plan: OutputPlan,
  value: unknown,
  parents: readonly object[][],
  refuse: (text: string) => never,
): void {
  check(plan, plan.type, value);

  function check(output: OutputPlan, type: TypeUse, found: unknown): void {
    if (found === null || found === undefined) {
      if (!type.isNullable) refuse('got null for the action webhook response');
      return;
    }
    if (type.kind === 'list') {
      if (!Array.isArray(found)) refuse('expecting array for the action webhook response');
      for (const item of found) check(output, type.item, item);
      return;
    }
    const problem = mismatch(output, type.name, found);
    if (problem !== null) refuse(`got ${problem} for the action webhook response, expecting ${type.name}`);
    if (!output.fields) return;
    for (const index of output.join?.indexes ?? []) parents[index]!.push(found as object);
    for (const name of output.required ?? []) require(name, found as Json);
    for (const field of output.fields) if (field.kind === 'value') checkField(field, found as Json);
  }

  function checkField({ name, value: output }: ValueField, object: Json): void {
    if (!output.type.isNullable) require(name, object);
    check(output, output.type, memberOf(object, name));
  }

  function require(name: string, object: Json): void {
    const found = memberOf(object, name);
    if (found === undefined) refuse(`field "${name}" expected in webhook response, but not found`);
    if (found === null) refuse(`expecting not null value for field "${name}"`);
  }
}

type ValueField = Extract<OutputField, { kind: 'value' }>;

function memberOf(object: Json, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Returns the kind of a value that is not of the named type; null when it is. */
function mismatch({ fields }: OutputPlan, name: string, found: unknown): string | null {
  const kind = Array.isArray(found) ? 'array' : isRecord(found) ? 'object' : `scalar ${nameOfJson(found)}`;
  if (fields) return kind === 'object' ? null : kind;
  const takes = own(SCALAR_CHECKS, name);
  return !takes || takes(found) ? null : kind;
}

/** The checks of GraphQL's own scalars; other scalars are not checked. */
const SCALAR_CHECKS: Readonly<Record<string, (found: unknown) => boolean>> = {
  Int: (found) => wholeText(found) !== undefined,
  Float: isNumber,
  String: (found) => typeof found === 'string',
  Boolean: (found) => typeof found === 'boolean',
  ID: (found) => typeof found === 'string' || isNumber(found),
};

/** Returns the selected fields of a checked value, with the joined rows, as JSON text. */
export function outputText(plan: OutputPlan, value: unknown, rows: JoinedRows): string {
  const next = rows.map(() => 0);
  return JSON.stringify(kept(plan, plan.type, value));

  function kept(output: OutputPlan, type: TypeUse, found: unknown): unknown {
    if (found === null || found === undefined) return null;
    if (type.kind === 'list')
      return (found as readonly unknown[]).map((item) => kept(output, type.item, item));
    const { fields, join } = output;
    if (!fields) return found;
    const joined: Json = Object.assign(
      Object.create(null),
      ...(join?.indexes ?? []).map((index) => rows[index]![next[index]!++]),
    );
    const object = found as Json;
    const entries = fields.flatMap((field): [string, unknown][] => {
      switch (field.kind) {
        case 'constant':
          return [[field.alias, JSON.parse(field.json)]];
        case 'joined':
          return [[field.alias, joined[field.alias]]];
        case 'value': {
          const member = memberOf(object, field.name);
          // An absent object, or list of objects, is left out; an absent scalar is null.
          if (member === undefined && field.value.fields) return [];
          return [[field.alias, kept(field.value, field.value.type, member)]];
        }
        default:
          return field satisfies never;
      }
    });
    return Object.fromEntries(entries);
  }
}
