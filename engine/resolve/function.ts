/** SQL functions: tracked functions (root fields that return rows of a tracked table) and computed fields (values computed from a
 *  row). In: their metadata and the catalog. Out: ResolvedFunction, ResolvedComputedField. Raises an ERRORS row whose text names
 *  what is wrong. Spec: "Tracked function constraints"; docs/reference/behaviour/functions.md. */

import { scalarOf } from '../catalog/scalars.ts';
import type { Catalog, CatalogArgument, CatalogFunction, PgType } from '../catalog/types.ts';
import { fail } from '../errors/engine-error.ts';
import { printQualified, type QualifiedName, qualifiedKey } from '../metadata/schema/common.ts';
import type { ComputedField, TrackedFunction } from '../metadata/schema/function.ts';
import type { PartialSource } from './context.ts';
import { refuseBecause } from './inconsistency.ts';
import type { ResolvedArgument, ResolvedComputedField, ResolvedFunction } from './model/function.ts';
import type { ResolveOptions } from './model/options.ts';
import type { ResolvedTable } from './model/table.ts';
import { baseName, descriptionOf, isGraphqlName } from './names.ts';
import { fieldName, type Part, rootFieldName, typeName } from './naming.ts';

type FunctionScope = Pick<PartialSource, 'catalog' | 'tables'>;

/** Resolves a tracked function: it is not overloaded, has only IN arguments, and returns rows of a tracked table. */
export function resolveFunction(
  source: string,
  definition: TrackedFunction,
  { catalog, tables }: FunctionScope,
  options: ResolveOptions,
): ResolvedFunction {
  const name = printQualified(definition.function);
  const refuse = (reason: string): never =>
    fail('invalidConfiguration', { text: `the function "${name}" cannot be tracked because ${reason}` });
  const called = onlyFunction(definition.function, catalog);
  const { configuration = {} } = definition;
  if (called.readsShards === 'sql') {
    refuseDistribution(`the function "${name}" cannot be tracked`, name, { why: IN_SQL, path: ['function'] });
  }
  if (called.hasVariadic) refuse('function with "VARIADIC" parameters are not supported');
  const returns =
    configuration.response?.type === 'table' && configuration.response.table
      ? configuration.response.table
      : (called.returnsTable ?? refuse('the function does not return a "COMPOSITE" type'));
  const table = tables.get(qualifiedKey(returns));
  if (!table) return refuse(`the return type ${printQualified(returns)} is not a tracked table`);
  const isVolatile = called.volatility === 'volatile';
  if (configuration.exposed_as === 'mutation' && !isVolatile) {
    refuse(
      'the function was requested to be exposed as a mutation, but is not marked VOLATILE. ' +
        'Maybe the function was given the wrong volatility when it was defined?',
    );
  }
  const { custom_name, custom_root_fields: custom } = configuration;
  const { naming } = table;
  const base: Part = custom_name ? { verbatim: custom_name } : baseName(definition.function);
  const rootField = rootFieldName(naming, custom?.function ?? fieldName(naming, base));
  if (!isGraphqlName(rootField)) refuse(`"${rootField}" is not a valid GraphQL identifier`);
  return {
    source,
    function: definition.function,
    argsTypeName: typeName(naming, base, 'args'),
    rootField,
    aggregateRootField: rootFieldName(
      naming,
      custom?.function_aggregate ?? fieldName(naming, base, 'aggregate'),
    ),
    description: descriptionOf(
      definition.comment,
      called.comment ?? `execute function "${definition.function.name}" which returns "${table.table.name}"`,
    ),
    returns: table.table,
    returnsSet: called.returnsSet,
    exposedAs: configuration.exposed_as ?? (isVolatile ? 'mutation' : 'query'),
    isVolatile,
    isForReaders:
      !isVolatile &&
      options.inferFunctionPermissions !== false &&
      (definition.permissions ?? []).length === 0,
    arguments: argumentsOf(called, { session: configuration.session_argument ?? null, row: null }, name),
    roles: new Set((definition.permissions ?? []).map(({ role }) => role)),
  };
}

/** Resolves a computed field: it is STABLE or IMMUTABLE, one argument takes the row, and it returns a scalar or rows of a tracked
 *  table. */
export function resolveComputedField(
  table: ResolvedTable,
  definition: ComputedField,
  scope: FunctionScope,
  options: ResolveOptions,
): ResolvedComputedField {
  const { name, definition: declared } = definition;
  refuseTakenName(table, name);
  const called = onlyFunction(declared.function, scope.catalog);
  const functionName = printQualified(declared.function);
  const reasons: string[] = [];
  const inputs = called.arguments.filter(isInput);
  const rowIndex = rowArgumentIndex(inputs, declared.table_argument ?? null, functionName, reasons);
  const row = inputs[rowIndex];
  const isOwnRow =
    row?.type.kind === 'composite' &&
    row.type.schema === table.table.schema &&
    row.type.name === table.table.name;
  if (row && !isOwnRow) {
    const which = declared.table_argument ? `"${declared.table_argument}" argument` : 'first argument';
    reasons.push(
      `${which} of the function "${functionName}" is not of type "${printQualified(table.table)}"`,
    );
  }
  if (called.volatility === 'volatile') {
    reasons.push(`the function "${functionName}" is of type VOLATILE; cannot be added as a computed field`);
  }
  if (called.hasVariadic)
    reasons.push(`the function "${functionName}" has VARIADIC parameters, which are not supported`);
  const returns = returnOf(called, scope.tables, options, functionName, reasons);
  const subject = `the computed field "${name}" cannot be added to table "${printQualified(table.table)}"`;
  const why = whyNotOnShards(called, table, scope.catalog);
  if (why) refuseDistribution(subject, functionName, { why, path: ['definition', 'function'] });
  refuseBecause(subject, reasons);
  return {
    name,
    description: descriptionOf(
      definition.comment,
      called.comment ?? `A computed field, executes function "${declared.function.name}"`,
    ),
    function: declared.function,
    arguments: argumentsOf(
      called,
      { session: declared.session_argument ?? null, row: rowIndex },
      functionName,
    ),
    returns: returns!,
  };
}

/** Why a cluster does not run a function that names a distributed table, and what to do. */
const IN_SQL = 'and is written in SQL, which Citus cannot run with arguments. Write it in PL/pgSQL';
const ON_SHARDS = 'and is called on shards, which read no others. Use a relationship and its aggregates';

/** Returns why a table has no computed field with a function that reads tables on shards, unless the coordinator calls it by itself. */
function whyNotOnShards(
  { readsShards }: CatalogFunction,
  { table }: ResolvedTable,
  catalog: Catalog,
): string | undefined {
  const isOnShards = catalog.tables.get(qualifiedKey(table))?.distribution !== undefined;
  if (readsShards && isOnShards) return ON_SHARDS;
  return readsShards === 'sql' ? IN_SQL : undefined;
}

/** Raises `distributionUnsupported` at the path in the object. */
function refuseDistribution(
  subject: string,
  name: string,
  { why, path }: { readonly why: string; readonly path: readonly string[] },
): never {
  const text = `${subject} because the function "${name}" names a distributed table ${why}`;
  return fail('distributionUnsupported', { text }, { path });
}

function returnOf(
  called: CatalogFunction,
  tables: FunctionScope['tables'],
  options: ResolveOptions,
  functionName: string,
  reasons: string[],
): ResolvedComputedField['returns'] | null {
  if (called.returnsTable) {
    const table = tables.get(qualifiedKey(called.returnsTable));
    if (table) return { kind: 'rows', table: table.table, isSet: called.returnsSet };
    reasons.push(
      `the function "${functionName}" returning set of table "${printQualified(called.returnsTable)}" is not tracked`,
    );
    return null;
  }
  if (called.returnsSet || called.returnType.kind === 'pseudo') {
    reasons.push(
      `the function "${functionName}" returning type ${called.returnType.name} is not a BASE type`,
    );
    return null;
  }
  const scalar = scalarOf(called.returnType);
  const isStringified = scalar.isStringifiable && options.stringifyNumericTypes;
  return {
    kind: 'scalar',
    type: called.returnType,
    scalar,
    json: isStringified ? 'stringified' : scalar.json,
  };
}

function refuseTakenName(table: ResolvedTable, name: string): void {
  const column = table.columns.find((each) => each.graphqlName === name);
  if (column) fail('fieldConflict', { table: printQualified(table.table), with: 'postgres column' });
}

function rowArgumentIndex(
  inputs: readonly CatalogArgument[],
  named: string | null,
  functionName: string,
  reasons: string[],
): number {
  if (inputs.length === 0) reasons.push(`the function "${functionName}" has no input arguments`);
  if (named === null) return 0;
  const index = inputs.findIndex((argument) => argument.name === named);
  if (index === -1) reasons.push(`"${named}" is not an input argument of the function "${functionName}"`);
  return index;
}

/** Returns the function. Raises `functionNotInDatabase`, or `notSupported` when it is overloaded. */
function onlyFunction(name: QualifiedName, catalog: Catalog): CatalogFunction {
  const [found, ...overloads] = catalog.functions.get(qualifiedKey(name)) ?? [];
  if (!found) {
    const printed = printQualified(name);
    const known = () => [...catalog.functions.values()].flatMap(([one]) => (one ? printQualified(one) : []));
    return fail('functionNotInDatabase', { name: printed }, { misnamed: { name: printed, known } });
  }
  if (overloads.length > 0) {
    fail('notSupported', {
      text: `function "${printQualified(name)}" is overloaded. Overloaded functions are not supported`,
    });
  }
  return found;
}

/** Returns the arguments in call order. `row` is the index of the input that takes the row of the table. */
function argumentsOf(
  called: CatalogFunction,
  special: { readonly session: string | null; readonly row: number | null },
  functionName: string,
): readonly ResolvedArgument[] {
  const inputs = called.arguments.filter(isInput);
  // Without a session argument, an argument without a name must not match.
  const session = inputs.find(({ name }) => name !== null && name === special.session);
  if (special.session !== null && !(session && isJson(session.type))) {
    fail('invalidConfiguration', {
      text: session
        ? `given session argument "${special.session}" is not of type json`
        : `"${special.session}" is not an input argument of the function "${functionName}"`,
    });
  }
  let unnamed = 0;
  return inputs.map((argument, i) => {
    const kind = i === special.row ? 'row' : argument === session ? 'session' : 'user';
    const isNamed = argument.name !== null && isGraphqlName(argument.name);
    const graphqlName = isNamed ? argument.name : `arg_${kind === 'user' ? ++unnamed : unnamed}`;
    const { name, type, hasDefault } = argument;
    return { kind, name, graphqlName, type, scalar: scalarOf(type), hasDefault };
  });
}

function isInput(argument: CatalogArgument): boolean {
  return argument.mode === 'in' || argument.mode === 'inout' || argument.mode === 'variadic';
}

function isJson(type: PgType): boolean {
  return type.schema === 'pg_catalog' && (type.name === 'json' || type.name === 'jsonb');
}
