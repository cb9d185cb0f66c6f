/** Request text × role schema → PreparedDocument: parsed, the operation chosen, what concerns the document as a whole
 *  validated. What concerns single fields and values is found while planning, where its path is known.
 *  A prepared document is kept and used by many requests. Not here: variables' values (variables.ts).
 *  Source: GraphQL specification, "Validation"; message texts: errors.txt of the reference. */
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  isInputType,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
  specifiedRules,
  typeFromAST,
  type ValidationRule,
  validate,
} from 'graphql';
import { fail } from '../errors/engine-error.ts';
import type { RoleSchema } from '../schema/role-schemas.ts';
import { printedType, type VariableDefinition } from './variables.ts';

export type PreparedDocument = {
  readonly role: RoleSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** By name, in document order. */
  readonly variables: ReadonlyMap<string, VariableDefinition>;
  /** Variables whose value, not only its shape, a plan depends on. Grows while plans are made. */
  readonly byValue: Set<string>;
};

/** Raises `notGraphql`, `validationFailed`, `fragmentCycle` and their like. */
export function prepareDocument(
  role: RoleSchema,
  text: string,
  operationName: string | null,
): PreparedDocument {
  const document = parseText(text);
  const operation = chooseOperation(document, operationName);
  const fragments = fragmentsOf(document);
  refuseCycles(fragments);
  const [problem] = validate(role.schema, document, WHOLE_DOCUMENT_RULES, { maxErrors: 1 });
  if (problem) fail('validationFailed', { text: problem.message });
  return { role, operation, fragments, variables: variablesOf(role, operation), byValue: new Set() };
}

/** The rules planning does not cover. Unused variables and fragments are fine, as in the reference. */
const WHOLE_DOCUMENT_RULES: readonly ValidationRule[] = specifiedRules.filter((rule) =>
  [
    'UniqueOperationNamesRule',
    'LoneAnonymousOperationRule',
    'UniqueFragmentNamesRule',
    'KnownFragmentNamesRule',
    'UniqueVariableNamesRule',
    'UniqueArgumentNamesRule',
    'UniqueInputFieldNamesRule',
    'UniqueDirectivesPerLocationRule',
    'NoUndefinedVariablesRule',
    'PossibleFragmentSpreadsRule',
    'FragmentsOnCompositeTypesRule',
    'OverlappingFieldsCanBeMergedRule',
  ].includes(rule.name),
);

function parseText(text: string): DocumentNode {
  try {
    return parse(text, { noLocation: true, maxTokens: 100_000 });
  } catch (error) {
    if (error instanceof GraphQLError)
      return fail('notGraphql', {}, { path: ['query'], internal: error.message });
    throw error;
  }
}

function chooseOperation(document: DocumentNode, name: string | null): OperationDefinitionNode {
  const operations = document.definitions.filter(
    (definition) => definition.kind === Kind.OPERATION_DEFINITION,
  );
  if (name === null) {
    if (operations.length === 1) return operations[0]!;
    return fail('validationFailed', {
      text:
        operations.length === 0
          ? 'exactly one operation has to be present in the document'
          : 'exactly one operation has to be present in the document when operationName is not specified',
    });
  }
  return (
    operations.find((operation) => operation.name?.value === name) ??
    fail('validationFailed', { text: `no such operation found in the document: "${name}"` })
  );
}

function fragmentsOf(document: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> {
  return new Map(
    document.definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition] as const] : [],
    ),
  );
}

/** Planning follows spreads, so a cycle must be found before. Depth-first; a fragment met again on its own path is one. */
function refuseCycles(fragments: ReadonlyMap<string, FragmentDefinitionNode>): void {
  const done = new Set<string>();
  const visit = (name: string, path: readonly string[]): void => {
    if (path.includes(name)) {
      const cycle = path.slice(path.indexOf(name));
      fail('fragmentCycle', { names: cycle.sort().join(' and ') });
    }
    const fragment = fragments.get(name);
    if (!fragment || done.has(name)) return;
    for (const spread of spreadsIn(fragment.selectionSet)) visit(spread, [...path, name]);
    done.add(name);
  };
  for (const name of fragments.keys()) visit(name, []);
}

function spreadsIn(set: SelectionSetNode): string[] {
  return set.selections.flatMap((selection) => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return [selection.name.value];
    return selection.selectionSet ? spreadsIn(selection.selectionSet) : [];
  });
}

function variablesOf(
  role: RoleSchema,
  operation: OperationDefinitionNode,
): ReadonlyMap<string, VariableDefinition> {
  return new Map(
    (operation.variableDefinitions ?? []).map((node) => {
      const name = node.variable.name.value;
      const type = typeFromAST(role.schema, node.type);
      const declared = printedType(node.type);
      if (!type || !isInputType(type)) {
        return fail('validationFailed', {
          text: `unknown type "${declared.replaceAll(/[[\]!]/g, '')}" of variable "${name}"`,
        });
      }
      return [name, { name, type, declared, defaultValue: node.defaultValue ?? null }] as const;
    }),
  );
}
