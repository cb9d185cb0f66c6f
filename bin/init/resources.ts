/** A proposal → files with resources, and the changes to files that people own. Every resource is compared with the objects that it stands
 *  for (operator/folder/describe.ts). In: a Proposal and the Folder. Out: texts by path, and suggestions. Pure.
 *  Not here: what is proposed (propose.ts), writing (write.ts), the README (readme.ts). */
import type { CatalogTable } from '../../engine/catalog/types.ts';
import {
  isRecord,
  type MetadataObject,
  metadataOf,
  objectKey,
  type SelectPermission,
  type TrackedFunction,
} from '../../engine/metadata/index.ts';
import { objectsOf, parseKey } from '../../engine/metadata/objects.ts';
import { printQualified, type QualifiedName, qualifiedKey } from '../../engine/metadata/schema/common.ts';
import { type DescribedResource, describeMetadata } from '../../operator/folder/describe.ts';
import { ComputedFieldSpec } from '../../operator/kinds/computed-field.ts';
import { describedItem } from '../../operator/kinds/projection.ts';
import { ArrayRelationship, ObjectRelationship } from '../../operator/kinds/relationship.ts';
import { describeSource, describeTableName } from '../../operator/kinds/table-name.ts';
import { GROUP_VERSION } from '../../operator/kinds.ts';
import type { Folder } from './folder.ts';
import { printComment, printItems, printResource } from './print.ts';
import type { Proposal } from './propose.ts';
import { wordsOf } from './words.ts';

/** How resources refer to their surroundings. */
export type Surroundings = {
  readonly source: string;
  readonly engineRef: string | undefined;
  readonly namespace: string | undefined;
  /** Returns the line above a resource of a kind in a file that names its JSON Schema; an empty text for none. */
  readonly schemaLine: (kind: string, path: string) => string;
};

export type ResourceFile = {
  readonly path: string;
  readonly text: string;
  /** The keys of the objects in the file. */
  readonly keys: readonly string[];
  readonly group: FileGroup;
};
export type FileGroup = 'tables' | 'views' | 'functions' | 'volatile' | 'permissions';

/** Items to add to a list of a resource that exists. */
export type Suggestion = {
  /** The file and line of the resource. */
  readonly position: string;
  /** The path of the list, for example `spec.arrayRelationships`. */
  readonly list: string;
  readonly yaml: string;
};

const LISTS = {
  object_relationship: ['objectRelationships', ObjectRelationship],
  array_relationship: ['arrayRelationships', ArrayRelationship],
  computed_field: ['computedFields', ComputedFieldSpec],
} as const;

/** Returns the files of the new objects. Files that the folder has are not among them. */
export function filesOf(proposal: Proposal, folder: Folder, around: Surroundings): readonly ResourceFile[] {
  const name = namer(folder);
  return [
    ...tableFiles(proposal, name, around),
    ...functionFiles(proposal, name, around),
    ...permissionFiles(proposal, name, around),
  ];
}

/** Returns what the tables of the folder could have besides. */
export function suggestionsOf({ added }: Proposal, { positions }: Folder): readonly Suggestion[] {
  const items = [...added.values()].flatMap((object) => {
    const row = LISTS[object.kind as keyof typeof LISTS];
    const position = object.parent === null ? undefined : positions.get(object.parent);
    return row && position !== undefined
      ? [{ list: row[0], position, item: describedItem(row[1], object.definition) }]
      : [];
  });
  const groups = Map.groupBy(items, ({ position, list }) => `${position} ${list}`);
  return [...groups.values()].map((same) => ({
    position: same[0]!.position,
    list: `spec.${same[0]!.list}`,
    yaml: printItems(
      same.map(({ item }) => withoutAbsentBelow(item)),
      4,
    ),
  }));
}

/** A function that returns a name for a resource that is free in the folder, and a path for its file. */
type Namer = (kind: string, directory: string, words: readonly string[]) => { name: string; path: string };

function tableFiles(proposal: Proposal, name: Namer, around: Surroundings): readonly ResourceFile[] {
  const { added, selection } = proposal;
  return describedTables(proposal, around).map(({ spec, table }) => {
    const catalog = selection.tables.get(qualifiedKey(table))!;
    const isView = catalog.kind.endsWith('view');
    const group = isView ? 'views' : 'tables';
    const at = name('Table', group, wordsOfTable(table));
    const key = objectKey('table', around.source, table.schema, table.name);
    const below = [...added.values()].filter(({ parent, kind }) => parent === key && kind in LISTS);
    return {
      path: at.path,
      group,
      keys: [key, ...below.map((object) => object.key)],
      text:
        around.schemaLine('Table', at.path) + commentOf(catalog) + document('Table', at.name, spec, around),
    };
  });
}

type DescribedTable = { readonly table: QualifiedName; readonly spec: DescribedResource['spec'] };

/** Returns the specs of the new tables, without permissions. */
function describedTables({ metadata, added }: Proposal, { source }: Surroundings): readonly DescribedTable[] {
  const key = objectKey('source', source);
  const tables = new Set(
    [...added.values()].filter(({ kind }) => kind === 'table').map((table) => table.key),
  );
  const objects = [...objectsOf(metadata).values()].filter((object) => {
    if (object.key === key || tables.has(object.key)) return true;
    return object.parent !== null && tables.has(object.parent) && object.kind in LISTS;
  });
  const { resources } = describeMetadata(metadataOf(objects), { name: 'main' });
  return resources
    .filter(({ kind }) => kind === 'Table')
    .map(({ spec }) => ({
      spec,
      table: { schema: String(spec['schema'] ?? 'public'), name: String(spec['table']) },
    }));
}

function functionFiles(proposal: Proposal, name: Namer, around: Surroundings): readonly ResourceFile[] {
  const reading = [...proposal.added.values()].filter(({ kind }) => kind === 'function');
  return [
    ...reading.map((object) => functionFile(object, proposal, name, around)),
    ...proposal.volatile.map((object) => functionFile(object, proposal, name, around, true)),
  ];
}

function functionFile(
  object: MetadataObject,
  { catalog }: Proposal,
  name: Namer,
  around: Surroundings,
  isVolatile = false,
): ResourceFile {
  const { function: called, configuration } = object.definition as TrackedFunction;
  const at = name('Function', 'functions', wordsOfTable(called));
  const custom = configuration?.custom_name;
  const settings = {
    ...(custom === undefined ? {} : { customName: custom }),
    ...(isVolatile ? { exposedAs: 'Mutation' } : {}),
  };
  const spec = {
    ...describeSource(around.source),
    ...(called.schema === 'public' ? {} : { schema: called.schema }),
    function: called.name,
    ...(Object.keys(settings).length > 0 ? { configuration: settings } : {}),
  };
  const text = document(
    'Function',
    at.name,
    isVolatile ? { ...spec, permissions: [{ role: 'ROLE' }] } : spec,
    around,
  );
  const comment = catalog.functions.get(qualifiedKey(called))?.[0]?.comment ?? null;
  const head = comment === null ? '' : printComment(comment);
  const line = around.schemaLine('Function', at.path);
  return {
    path: at.path,
    group: isVolatile ? 'volatile' : 'functions',
    keys: [object.key],
    text: isVolatile
      ? head + printComment(volatileText(called)) + printComment(line + text.trimEnd())
      : line + head + text,
  };
}

function volatileText(called: QualifiedName): string {
  const { schema, name } = called;
  const quoted = [...(schema === 'public' ? [] : [schema]), name].map(sqlName).join('.');
  return [
    `${printQualified(called)} is VOLATILE, so it may change data, and it is not part of the API yet.`,
    'As a mutation: remove the "# " of the lines below and name the role that may call it.',
    `If it only reads: run \`alter function ${quoted} stable\`, and remove "configuration" and "permissions", too.`,
    '',
  ].join('\n');
}

/** Returns a name as people write it in SQL: in quotes where it needs them. */
function sqlName(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

function permissionFiles(proposal: Proposal, name: Namer, around: Surroundings): readonly ResourceFile[] {
  const granted = [...proposal.added.values()].filter(({ kind }) => kind === 'select_permission');
  return granted.map(({ key, parent, definition }) => {
    const { role, permission } = definition as SelectPermission;
    const [, schema = '', table = ''] = parseKey(parent!)!.segments;
    const words = [...wordsOf(role), ...wordsOfTable({ schema, name: table })];
    const at = name('TablePermission', `permissions/${fileName(wordsOf(role))}`, words);
    const spec = {
      ...describeSource(around.source),
      ...describeTableName({ schema, name: table }),
      role,
      select: withoutAbsent({
        columns: permission.columns,
        computedFields: permission.computed_fields,
        filter: permission.filter,
      }),
    };
    return {
      path: at.path,
      group: 'permissions' as const,
      keys: [key],
      text:
        around.schemaLine('TablePermission', at.path) + document('TablePermission', at.name, spec, around),
    };
  });
}

function document(
  kind: string,
  name: string,
  { engineRef: _, ...spec }: Readonly<Record<string, unknown>>,
  { engineRef, namespace }: Surroundings,
): string {
  return printResource({
    apiVersion: GROUP_VERSION,
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    spec: { ...(engineRef === undefined ? {} : { engineRef: { name: engineRef } }), ...spec },
  });
}

function commentOf({ comment }: CatalogTable): string {
  return comment === null || comment.trim() === '' ? '' : printComment(comment.trim());
}

function wordsOfTable({ schema, name }: QualifiedName): readonly string[] {
  const words = wordsOf(name);
  return [...(schema === 'public' ? [] : wordsOf(schema)), ...(words.length === 0 ? ['unnamed'] : words)];
}

function withoutAbsent(item: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined));
}

/** Returns the value without absent fields at any depth. */
function withoutAbsentBelow(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const entries = Object.entries(withoutAbsent(value));
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutAbsentBelow(inner)]));
}

/** Returns a function that creates names valid in Kubernetes, which are also the names of files. The second `author` is `author-2`. */
function namer({ names, files }: Folder): Namer {
  const taken = new Set([...names, ...files]);
  return (kind, directory, words) => {
    const plain = fileName(words);
    for (let count = 1; ; count++) {
      const name = count === 1 ? plain : `${plain}-${count}`;
      const short = directory.startsWith('permissions/') ? name.slice(name.indexOf('-') + 1) : name;
      const path = `${directory}/${short}.yaml`;
      if (taken.has(`${kind} ${name}`) || taken.has(path)) continue;
      taken.add(`${kind} ${name}`).add(path);
      return { name, path };
    }
  };
}

function fileName(words: readonly string[]): string {
  const name = words.join('-').toLowerCase().slice(0, 200);
  return name.replaceAll(/^-+|-+$/g, '') || 'unnamed';
}
