/** Checks whether the grants of an Engine (`spec.grants`) cover the objects of a resource.
 *  The namespace of the Engine may own every object; it needs grants only for environment variables and files. A field that a grant omits covers
 *  nothing, except `kinds`: without it the grant covers every kind that concerns single objects. One grant must cover an object
 *  completely.
 *  Pure. Not here: the needs of an object (needs.ts), which namespaces may bind (consent.ts). */
import type { MetadataObject } from '@pergola/engine/metadata';
import { KINDS, kindOf } from '../kinds.ts';
import { printKey } from '../objects/normal-form.ts';
import { DIMENSIONS, type Dimension, type Needs, needsOf, recentNeedsOf, variablesNeeded } from './needs.ts';

export type Grant = {
  readonly name: string;
  /** Names, or patterns such as `team-*`. A grant has either these or the selector; with neither it is for the namespace of the Engine. */
  readonly namespaces?: readonly string[];
  readonly namespaceSelector?: { readonly matchLabels: Readonly<Record<string, string>> };
} & { readonly [D in Dimension]?: readonly string[] };

/** The namespace of a resource, and its grants. */
export type Granted = Pick<Candidate, 'namespace' | 'isHome'> & {
  /** The Engine, as `namespace/name`. */
  readonly engine: string;
  readonly grants: readonly Grant[];
  /** The fields that some grant of the Engine has, for whatever namespace. */
  readonly fields?: ReadonlySet<string>;
};

type Labels = Readonly<Record<string, string>>;

/** The kinds that a grant without `kinds` covers. */
const OBJECT_KINDS: readonly string[] = KINDS.filter(({ concerns }) => concerns === 'object').map(
  ({ kind }) => kind,
);

/** A namespace that a grant may be for. */
export type Candidate = {
  readonly namespace: string;
  /** True for the Engine's own namespace. */
  readonly isHome: boolean;
  /** The labels. Undefined when they are unknown: then no selector matches. */
  readonly labels: Labels | undefined;
};

export function isGrantFor(grant: Grant, { namespace, isHome, labels }: Candidate): boolean {
  const { namespaces, namespaceSelector } = grant;
  if (namespaces) return namespaces.some((pattern) => isMatch(pattern, namespace));
  if (!namespaceSelector) return isHome;
  const wanted = Object.entries(namespaceSelector.matchLabels);
  return labels !== undefined && wanted.length > 0 && wanted.every(([key, value]) => labels[key] === value);
}

/** True when the pattern matches. `*` at its beginning or end matches any text: `public.*`, `*.team-a.svc`, `*`. */
export function isMatch(pattern: string, value: string): boolean {
  if (pattern === '*') return true;
  const [start, end] = [pattern.startsWith('*'), pattern.endsWith('*')];
  const text = pattern.slice(start ? 1 : 0, end ? -1 : undefined);
  if (start && end) return value.includes(text);
  if (start) return value.endsWith(text);
  return end ? value.startsWith(text) : value === text;
}

/** Returns the object that the resource has in the engine already, by its key; undefined for a new one. */
export type HeldObject = (key: string) => MetadataObject | undefined;

/** Returns why a resource of the kind may not own the objects; undefined when it may. With `held`, the needs that earlier versions did not
 *  have are waived where the object in the engine has them, until a grant of the Engine has the field: an upgrade breaks nothing. */
export function objectionTo(
  granted: Granted,
  kind: string,
  objects: readonly MetadataObject[],
  held?: HeldObject,
): string | undefined {
  const refused = objects.flatMap((object) => {
    const needs = withoutWaived(needed(granted, kind, object), held?.(object.key), granted.fields);
    return isCovered(granted, needs) ? [] : [{ object, needs }];
  });
  const [first] = refused;
  return first && objectionText(granted, first.object, mergedNeeds(refused.map(({ needs }) => needs)));
}

/** The Engine's own namespace may refer to every named value, another one to its own. */
function needed({ isHome, namespace }: Granted, kind: string, object: MetadataObject): Needs {
  const own = isHome ? 'value:' : `value:${namespace}/`;
  const variables = variablesNeeded(object).filter((name) => !name.startsWith(own));
  if (isHome) return variables.length === 0 ? NOTHING : { ...NOTHING, variables };
  const needs = needsOf(object);
  return { ...needs, kinds: [kind, ...needs.kinds], variables };
}

/** The fields of a grant that earlier versions did not have. Files of connections are recent as the hosts of databases are. */
const RECENT = {
  databaseHosts: 'databaseHosts',
  variables: 'databaseHosts',
  clientHeaders: 'clientHeaders',
} as const;

function withoutWaived(needs: Needs, held: MetadataObject | undefined, fields?: ReadonlySet<string>): Needs {
  if (held === undefined) return needs;
  const recent = recentNeedsOf(held);
  const kept = (Object.keys(RECENT) as (keyof typeof RECENT)[])
    .filter((dimension) => !fields?.has(RECENT[dimension]))
    .map((dimension) => [dimension, needs[dimension].filter((need) => !recent[dimension].includes(need))]);
  return { ...needs, ...Object.fromEntries(kept) };
}

const NOTHING: Needs = {
  kinds: [],
  sources: [],
  tables: [],
  references: [],
  names: [],
  roles: [],
  webhookHosts: [],
  clientHeaders: [],
  databaseHosts: [],
  registries: [],
  variables: [],
};

function isCovered({ isHome, grants }: Granted, needs: Needs): boolean {
  if (isHome && needs.variables.length === 0) return true;
  return grants.some((grant) =>
    DIMENSIONS.every((dimension) => lacking(grant, needs, dimension).length === 0),
  );
}

/** Returns the needs of one dimension that the grant does not cover. */
function lacking(grant: Grant, needs: Needs, dimension: Dimension): readonly string[] {
  const patterns = patternsOf(grant, dimension);
  return needs[dimension].filter((need) => !patterns.some((pattern) => isMatch(pattern, need)));
}

function patternsOf(grant: Grant, dimension: Dimension): readonly string[] {
  if (dimension === 'kinds') return grant.kinds ?? OBJECT_KINDS;
  if (dimension === 'references') return [...(grant.references ?? []), ...(grant.tables ?? [])];
  return grant[dimension] ?? [];
}

function mergedNeeds(all: readonly Needs[]): Needs {
  const merged = DIMENSIONS.map((dimension) => [
    dimension,
    [...new Set(all.flatMap((needs) => needs[dimension]))],
  ]);
  return Object.fromEntries(merged);
}

/** The most values of each field in a message. */
const MOST_VALUES = 5;

function objectionText(granted: Granted, object: MetadataObject, needs: Needs): string {
  const { engine, namespace, isHome, grants } = granted;
  const key = printKey(object.key);
  const named = needs.variables.some((name) => name.startsWith('file:')) ? 'variables or files' : 'variables';
  const what = isHome
    ? `${key} names environment ${named} that Engine ${engine} does not grant`
    : `Engine ${engine} does not let namespace ${namespace} have ${key}`;
  const nearest = grants
    .map((grant) => ({
      grant,
      lacks: DIMENSIONS.map((dimension) => [dimension, lacking(grant, needs, dimension)] as const).filter(
        ([, values]) => values.length > 0,
      ),
    }))
    .toSorted((a, b) => a.lacks.length - b.lacks.length)[0];
  if (nearest && nearest.lacks.length > 0) {
    const missing = nearest.lacks.map(([dimension, values]) => `${dimension}: ${listText(values)}`);
    return `${what}; its grant ${nearest.grant.name} would also need ${missing.join(', ')}`;
  }
  const fields = DIMENSIONS.filter(
    (dimension) => needs[dimension].length > 0 && !(dimension === 'kinds' && areObjectKinds(needs.kinds)),
  ).map((dimension) => `, ${dimension}: ${listText(needs[dimension])}`);
  return `${what}; allow it with a grant in its spec.grants: {name: ${namespace}${isHome ? '' : `, namespaces: [${namespace}]`}${fields.join('')}}`;
}

function areObjectKinds(kinds: readonly string[]): boolean {
  return kinds.every((kind) => kindOf(kind)?.concerns === 'object');
}

function listText(values: readonly string[]): string {
  const shown = values.slice(0, MOST_VALUES).map((value) => (/^[\w.-]+$/.test(value) ? value : `"${value}"`));
  const rest = values.length - shown.length;
  return `[${shown.join(', ')}]${rest > 0 ? ` and ${rest} more` : ''}`;
}
