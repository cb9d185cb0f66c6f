/** The functions of a database that the engine can offer: those that return rows of a table as root fields, those that take a row of a
 *  table as computed fields. Functions that may change data are kept apart, because Postgres declares every function so by default.
 *  In: a draft. Out: the draft with them. Pure. Not here: what the engine refuses (engine/resolve/function.ts). */
import type { CatalogFunction, CatalogTable } from '../../engine/catalog/types.ts';
import { type MetadataObject, objectKey } from '../../engine/metadata/index.ts';
import { printQualified, qualifiedKey } from '../../engine/metadata/schema/common.ts';
import { baseName } from '../../engine/resolve/names.ts';
import { type Draft, withAdditions } from './draft.ts';
import { singular } from './english.ts';
import { nounOf } from './relationship-names.ts';
import { apiName, graphqlName, spell, styleOf, wordsOf } from './words.ts';

/** A function with the table that its first argument is a row of, or null. */
type Candidate = { readonly called: CatalogFunction; readonly row: CatalogTable | null };

/** The name of a computed field whose function has no letter that GraphQL has. */
const UNNAMED = 'unnamed_field';

export function proposeCalls(draft: Draft): {
  readonly draft: Draft;
  readonly volatile: readonly MetadataObject[];
} {
  const { wishes, selection, catalog } = draft;
  const own = [...catalog.functions.values()].filter(([first]) => selection.schemas.has(first!.schema));
  const overloaded = own
    .filter((overloads) => overloads.length > 1 && overloads.some((called) => isOffered(called, draft)))
    .map(([first]) => ({
      what: `function ${printQualified(first!)}`,
      why: 'several functions have this name, and GraphQL cannot choose among them',
    }));
  const candidates = own
    .flatMap((overloads) => (overloads.length === 1 ? overloads : []))
    .filter((called) => isOffered(called, draft))
    .map((called): Candidate => ({ called, row: rowTableOf(called, draft) }));
  const isNew = ({ key }: MetadataObject) => !wishes.offered.has(key) && !isKnown(draft, key);
  const fields = candidates.flatMap((candidate) => computedField(candidate, draft)).filter(isNew);
  const roots = candidates
    .filter(({ row }) => row === null)
    .map(({ called }) => ({
      called,
      object: rootField(called, wishes.source),
    }));
  const isVolatile = ({ called }: { called: CatalogFunction }) => called.volatility === 'volatile';
  const reading = roots.filter((root) => !isVolatile(root)).map(({ object }) => object);
  const writing = roots.filter(isVolatile).map(({ object }) => object);
  const withFields = withAdditions({ ...draft, leftOut: [...draft.leftOut, ...overloaded] }, fields);
  const made = withAdditions(withFields, reading.filter(isNew));
  // Judged like the others, and not part of the draft.
  const judged = withAdditions(made, writing.filter(isNew));
  const volatile = writing.filter(({ key }) => judged.added.has(key));
  return { draft: { ...made, leftOut: judged.leftOut }, volatile };
}

/** True for functions that return rows of a tracked table, or a value for a row of one. */
function isOffered(called: CatalogFunction, draft: Draft): boolean {
  const { source } = draft;
  if (rowTableOf(called, draft))
    return called.volatility !== 'volatile' && called.returnType.kind !== 'pseudo';
  return called.returnsTable !== null && source.tables.has(qualifiedKey(called.returnsTable));
}

function rowTableOf({ arguments: all }: CatalogFunction, { source, selection }: Draft): CatalogTable | null {
  const first = all.find(({ mode }) => mode === 'in' || mode === 'inout');
  if (first?.type.kind !== 'composite') return null;
  const key = qualifiedKey(first.type);
  return source.tables.has(key) ? (selection.tables.get(key) ?? null) : null;
}

function isKnown({ source, wishes }: Draft, key: string): boolean {
  const known = [...source.functions.values()].map(({ function: { schema, name } }) =>
    objectKey('function', wishes.source, schema, name),
  );
  const fields = [...source.tables.values()].flatMap(({ table: { schema, name }, computedFields }) =>
    [...computedFields.keys()].map((field) =>
      objectKey('computed_field', wishes.source, schema, name, field),
    ),
  );
  return known.includes(key) || fields.includes(key);
}

function rootField(called: CatalogFunction, source: string): MetadataObject {
  const { schema, name } = called;
  const base = apiName(called, 'unnamed_function');
  const configuration = base === baseName(called) ? {} : { configuration: { custom_name: base } };
  return {
    key: objectKey('function', source, schema, name),
    kind: 'function',
    parent: objectKey('source', source),
    definition: { function: { schema, name }, ...configuration },
  };
}

/** Returns a computed field, unless the table has the function as a field already. */
function computedField({ called, row }: Candidate, { source, wishes }: Draft): readonly MetadataObject[] {
  if (!row) return [];
  const table = source.tables.get(qualifiedKey(row))!;
  const isDeclared = [...table.computedFields.values()].some(
    (field) => qualifiedKey(field.function) === qualifiedKey(called),
  );
  if (isDeclared) return [];
  const taken = new Set([...table.columnByName.keys(), ...table.relationships.keys()]);
  const short = shortName(called, row);
  const name = taken.has(short) ? graphqlName(called.name, UNNAMED) : short;
  return [
    {
      key: objectKey('computed_field', wishes.source, row.schema, row.name, name),
      kind: 'computed_field',
      parent: objectKey('table', wishes.source, row.schema, row.name),
      definition: {
        name,
        definition: { function: { schema: called.schema, name: called.name } },
      },
    },
  ];
}

/** Returns `full_name` for the function `author_full_name` of the table `author`. */
function shortName({ name }: CatalogFunction, row: CatalogTable): string {
  const words = wordsOf(name);
  const prefixes = [nounOf(row, (noun) => noun), nounOf(row, singular)];
  const prefix = prefixes.find(
    (each) =>
      words.length > each.length &&
      words.slice(0, each.length).join(' ').toLowerCase() === each.join(' ').toLowerCase(),
  );
  if (!prefix) return graphqlName(name, UNNAMED);
  return graphqlName(spell(words.slice(prefix.length), styleOf([name])), UNNAMED);
}
