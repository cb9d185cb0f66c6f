/** Fields of a remote schema's objects that are joined from another source. The sent document requests the values of their keys
 *  instead, under unused names, and JoinPaths say which values belong together. A field that several fragments select is planned
 *  once, when its whole selection is collected.
 *  Out: nodes of the sent document, and JoinPaths. Raises `ambiguousAlias`, and the errors of planning the field.
 *  Not here: planning the joined field (remote-relationship.ts), inserting its value (execute/join.ts). Reference: docs/reference/behaviour/remote-schemas.md. */

import {
  type DirectiveNode,
  type FieldNode,
  type GraphQLField,
  Kind,
  type SelectionNode,
  visit,
} from 'graphql';
import { withPath } from '../errors/engine-error.ts';
import type { JoinKey } from '../resolve/model/table.ts';

import type { JoinedOrigin } from '../schema/origin.ts';
import type { PlanContext } from './context.ts';
import type { JoinPaths, SpreadKeys } from './remote-types.ts';
import { isIncluded, refuseAmbiguous } from './selection.ts';

/** A field on the path, with the type it belongs to: fields of different types differ, even under the same name. */
export type PathField = { readonly owner: string; readonly name: string; readonly alias: string };

/** A field to join, with its path in the document. */
type JoinedField = {
  readonly origin: JoinedOrigin;
  readonly field: GraphQLField<unknown, unknown>;
  readonly node: FieldNode;
  readonly way: readonly PathField[];
  /** The field and the selections around it that `@skip` or `@include` may leave out. */
  readonly conditions: readonly SelectionNode[];
};

type Slot = Pick<JoinedField, 'origin' | 'field' | 'way'> & {
  readonly keys: SentKeys;
  readonly nodes: FieldNode[];
};

type SentKeys = Omit<SpreadKeys, 'join'>;

/** Collects the fields to join under one root field of a sent document. */
export class RemoteKeys {
  readonly #context: PlanContext;
  readonly #slots = new Map<string, Slot>();
  #prefix: string | undefined;

  constructor(context: PlanContext) {
    this.#context = context;
  }

  /** Adds a field, and returns the nodes that request the values of its keys. */
  add({ origin, field, node, way, conditions }: JoinedField): readonly FieldNode[] {
    const { alias } = way.at(-1)!;
    const id = JSON.stringify(way.map((step) => [step.owner, step.alias]));
    const slot = this.#slots.get(id) ?? { origin, field, way, keys: this.#keysFor(alias, origin), nodes: [] };
    this.#slots.set(id, slot);
    if (slot.nodes[0]) refuseAmbiguous(alias, slot.nodes[0], node);
    if (conditions.every((each) => isIncluded(each, this.#context))) slot.nodes.push(node);
    const { first, names } = slot.keys;
    const { directives = [] } = node;
    if (names.length === 0) return [keyField('__typename', first, directives)];
    return names.map((name, i) => keyField(upstreamName(origin.keys[i]!), name, directives));
  }

  /** Plans the added fields, and returns their paths in the response; null when there are none. */
  finished(): JoinPaths | null {
    return pathsOf(
      [...this.#slots.values()]
        .filter(({ nodes }) => nodes.length > 0)
        .map(({ origin, field, way, keys, nodes }) => {
          const plan = () => this.#context.planners.join(origin.to, { field, nodes }, this.#context);
          const steps = way.flatMap(({ name }) => ['selectionSet', name]);
          const join = steps.reduceRight((body, step) => () => withPath(step, body), plan)();
          return { way: way.slice(0, -1).map((step) => step.alias), keys: { ...keys, join } };
        }),
    );
  }

  #keysFor(alias: string, { keys }: JoinedOrigin): SentKeys {
    this.#prefix ??= freePrefix(responseNames(this.#context));
    const first = `${this.#prefix}${this.#slots.size}`;
    const names = keys.map((_, i) => `${first}_${i}`);
    return { alias, first: names[0] ?? first, names };
  }
}

function upstreamName(key: JoinKey): string {
  if (key.kind !== 'upstream') throw new Error(`a ${key.kind} is no value of a remote schema`);
  return key.field.name;
}

function keyField(name: string, alias: string, directives: readonly DirectiveNode[]): FieldNode {
  const named = (value: string) => ({ kind: Kind.NAME, value }) as const;
  return { kind: Kind.FIELD, name: named(name), alias: named(alias), directives };
}

type Placed = { readonly way: readonly string[]; readonly keys: SpreadKeys };

function pathsOf(placed: readonly Placed[]): JoinPaths | null {
  if (placed.length === 0) return null;
  const here = placed.flatMap(({ way, keys }) => {
    return way.length === 0 ? [keys.first, ...keys.names].map((name) => [name, keys] as const) : [];
  });
  const further = Map.groupBy(
    placed.filter(({ way }) => way.length > 0),
    ({ way }) => way[0]!,
  );
  const inner = [...further].map(([alias, inside]) => {
    return [alias, pathsOf(inside.map(({ way, keys }) => ({ way: way.slice(1), keys })))!] as const;
  });
  return { own: new Map(), spread: new Map(here), inner: new Map(inner) };
}

/** Returns the response names of all fields in the document. */
function responseNames({ document: { operation, fragments } }: PlanContext): readonly string[] {
  const names: string[] = [];
  for (const node of [operation, ...fragments.values()]) {
    visit(node, { Field: ({ alias, name }) => void names.push((alias ?? name).value) });
  }
  return names;
}

/** Returns a prefix that none of the names begins with. */
export function freePrefix(taken: readonly string[]): string {
  let prefix = 'k';
  while (taken.some((name) => name.startsWith(prefix))) prefix = `_${prefix}`;
  return prefix;
}
