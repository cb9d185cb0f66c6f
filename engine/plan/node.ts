/** The root field `node`: an id → the row it identifies. An id is `[1, schema, table, …key]`. The table decides the plan and
 *  the key becomes parameters, so the ids of a client lead to at most one plan per table. Raises `validationFailed` for a text
 *  that is not the id of a table the role reads as Node, and `parseFailed` for an impossible key. Not here: ids in responses
 *  (sql/opaque.ts). Reference: docs/reference/behaviour/relay.md. */
import { baseType } from '../catalog/types.ts';
import { fail, withPath } from '../errors/engine-error.ts';
import { nameOfJson } from '../json/value.ts';
import { printQualified } from '../metadata/schema/common.ts';
import type { ResolvedColumn } from '../resolve/model/column.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { and, comparison, type Leaf, type LeafValue, type Predicate } from '../resolve/predicate.ts';
import { filtered } from '../resolve/row-barrier.ts';
import { foundByNode, nodeKey } from '../schema/node.ts';
import { readArguments } from './arguments.ts';
import { columnRef } from './bool-exp.ts';
import type { PlanContext, SelectedNodes } from './context.ts';
import type { Input } from './input.ts';
import { opened, wrongKind } from './opaque.ts';
import type { Select } from './query-types.ts';
import { textOf } from './scalar-value.ts';
import { planSelection } from './table.ts';

type NodeId = { readonly schema: string; readonly name: string; readonly values: readonly unknown[] };

/** The position of the first key value in the JSON of an id. */
const VALUES_AT = 3;

export function planNode(
  at: SelectedNodes,
  context: PlanContext,
): { readonly source: string; readonly select: Select } {
  const { builder } = context.document.role;
  const { operation: kind } = context.document.operation;
  const { from } = readArguments(at, context).get('id') as Extract<Input, { kind: 'leaf' }>;
  const { id, table, key } = withPath('args', () =>
    withPath('id', () => {
      const read = nodeIdOf(from.value);
      const found = tableOf(read, foundByNode(builder, kind === 'subscription' ? kind : 'query'));
      return { id: read, table: found, key: alignedKey(nodeKey(builder, found)!, read.values) };
    }),
  );
  if (from.kind === 'variable') context.facets.set(from.path[0] as string, facetOf);
  const columns = key.map((column, i): Predicate => {
    const value = checked(id.values[i], column);
    const type = baseType(column.type);
    const right: Leaf =
      from.kind === 'variable'
        ? { kind: 'variable', path: from.path, within: [VALUES_AT + i], type }
        : { kind: 'constant', value: textOf(value, type) as LeafValue, type };
    return comparison(columnRef(column), '_eq', right);
  });
  const where = filtered(context.filterOf(table), and(...columns));
  return {
    source: table.source,
    select: { ...planSelection(table, builder.objectType(table), at.nodes, context), where },
  };
}

/** Returns the facet of an id: its table and the JSON types of its key values. */
function facetOf(value: unknown): string {
  const { schema, name, values } = nodeIdOf(value);
  return JSON.stringify([schema, name, values.map(nameOfJson)]);
}

function nodeIdOf(given: unknown): NodeId {
  const text = String(given);
  const value = opened(text);
  if (value === undefined) {
    const bytes = Buffer.from(text, 'base64').toString('latin1');
    return malformed(`Failed reading: not a valid json value at '${bytes}'`);
  }
  if (!Array.isArray(value)) {
    return malformed(`parsing node id failed, expected Array, but encountered ${nameOfJson(value)}`);
  }
  const [version, schema, name, ...values] = value as readonly unknown[];
  if (value.length === 0) return malformed('unexpected GUID format, found empty list');
  if (nameOfJson(version) !== 'Number') {
    return malformed('unexpected GUID format, needs to start with a version number');
  }
  if (version !== 1) {
    return malformed(`unsupported GUID version: ${Number(version)}${Number.isInteger(version) ? '.0' : ''}`);
  }
  if (value.length <= VALUES_AT) {
    return malformed('GUID version 1: expecting schema name, table name and at least one column value');
  }
  if (typeof schema !== 'string' || typeof name !== 'string') {
    const other = typeof schema === 'string' ? name : schema;
    return malformed(`parsing Text failed, expected String, but encountered ${nameOfJson(other)}`);
  }
  return { schema, name, values };
}

function tableOf({ schema, name }: NodeId, tables: readonly ResolvedTable[]): ResolvedTable {
  const found = tables.filter(({ table }) => table.schema === schema && table.name === name);
  const printed = `'${printQualified({ schema, name })}'`;
  const [only, another] = found;
  if (!only) return invalid(`no such table found: ${printed}`);
  if (another) {
    const sources = found.map(({ source }) => `'${source}'`).join(', ');
    invalid(
      `this V1 node id matches more than one table across different sources: ${printed} exists in sources [${sources}]`,
    );
  }
  return only;
}

function alignedKey(key: readonly ResolvedColumn[], values: readonly unknown[]): readonly ResolvedColumn[] {
  const missing = key.slice(values.length).map(({ name }) => `'${name}'`);
  if (missing.length > 0) invalid(`primary key columns [${missing.join(', ')}] are missing`);
  const unexpected = values.slice(key.length);
  if (unexpected.length > 0) invalid(`unexpected column values ${JSON.stringify(unexpected)}`);
  return key;
}

/** Checks the JSON type of a key value; Postgres validates texts. */
function checked(value: unknown, { name, type }: ResolvedColumn): unknown {
  const text = wrongKind(value, type);
  return text === null
    ? value
    : fail('parseFailed', { text: `value of column '${name}' in node id: ${text}` });
}

function malformed(problem: string): never {
  return invalid(`Error in $: ${problem}`);
}

function invalid(problem: string): never {
  return fail('validationFailed', { text: `invalid node id: ${problem}` });
}
