/** Request text × role schema → PreparedDocument: parses the text, chooses the operation, and validates everything that needs
 *  no values of variables (validation.ts). Planning validates values, because only there their path is known. Prepared
 *  documents are cached and shared by requests. Not here: values of variables (variables.ts). Source: GraphQL specification,
 *  "Validation"; message texts: docs/reference/behaviour/errors.md. */
import {
  type ConstValueNode,
  type DocumentNode,
  ExecutableDefinitionsRule,
  GraphQLError,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLObjectType,
  GraphQLSchema,
  getNamedType,
  getNullableType,
  isListType,
  Kind,
  MaxIntrospectionDepthRule,
  type OperationDefinitionNode,
  parse,
  TypeInfo,
  type TypeNode,
  UniqueArgumentNamesRule,
  UniqueInputFieldNamesRule,
  ValidationContext,
  visit,
  visitInParallel,
} from 'graphql';
import { EngineError, fail } from '../errors/engine-error.ts';
import { ArrayType } from '../schema/origin.ts';
import type { RoleSchema } from '../schema/role-schemas.ts';
import { type Conditions, NO_CONDITIONS } from './conditions.ts';
import type { Fragments, PreparedDocument } from './context.ts';
import { MANY_ROOTS } from './directives.ts';
import { readInput } from './input.ts';
import { fragmentsOf, usedVariables } from './reach.ts';
import { checkAllowList, checkRequestPolicy } from './request-policy.ts';
import { type IsUnjudged, type Usage, validateOperation } from './validation.ts';
import { printedType } from './variables.ts';

/** Prepares a document. A document that is valid only because variables of the request skip some selections is prepared for the values
 *  in `given`, and has them as its `conditions`. Unknown fields that `isUnjudged` names are not errors. Raises `notGraphql`, `validationFailed` and the errors of validation.ts and
 *  request-policy.ts. */
export function prepareDocument(
  role: RoleSchema,
  text: string,
  operationName: string | null,
  given: Conditions = NO_CONDITIONS,
  isUnjudged?: IsUnjudged,
): PreparedDocument {
  const document = parseText(text);
  checkAllowList(document, role);
  validateDocument(document);
  const operation = chooseOperation(document, operationName);
  const fragments = fragmentsOf(document);
  const used = usedVariables(operation, fragments);
  const rootType = rootTypeOf(role, operation);
  const { usages, conditions } = validated(operation, fragments, rootType, given, isUnjudged);
  checkRequestPolicy(operation, fragments, role);
  return {
    role,
    operation,
    rootType,
    fragments,
    variables: variablesOf(operation, usages, used),
    conditions,
    mayHaveManyRoots: operation.operation !== 'subscription' || hasDirective(operation, MANY_ROOTS),
  };
}

/** Validates the operation whole, and only if that fails without what the conditions skip. */
function validated(
  operation: OperationDefinitionNode,
  fragments: Fragments,
  rootType: GraphQLObjectType,
  given: Conditions,
  isUnjudged: IsUnjudged | undefined,
): { readonly usages: ReadonlyMap<string, Usage>; readonly conditions: Conditions } {
  try {
    return {
      usages: validateOperation(operation, fragments, rootType, NO_CONDITIONS, isUnjudged),
      conditions: NO_CONDITIONS,
    };
  } catch (error) {
    const conditions = conditionsOf(operation, given);
    if (conditions.size === 0) throw error;
    return { usages: validateOperation(operation, fragments, rootType, conditions, isUnjudged), conditions };
  }
}

/** Returns the values of the operation's boolean variables: those of the request, or the defaults. */
function conditionsOf({ variableDefinitions = [] }: OperationDefinitionNode, given: Conditions): Conditions {
  const values = variableDefinitions.flatMap(({ variable, defaultValue }) => {
    const name = variable.name.value;
    const byDefault = defaultValue?.kind === Kind.BOOLEAN ? defaultValue.value : undefined;
    const value = given.get(name) ?? byDefault;
    return value === undefined ? [] : [[name, value] as const];
  });
  return new Map(values);
}

/** Validation rules about the document itself, which the reference counts as its syntax. Unused variables and fragments are
 *  allowed, and of two operations of one name the first counts, as in the reference. */
const WHOLE_DOCUMENT_RULES = [ExecutableDefinitionsRule, UniqueArgumentNamesRule, UniqueInputFieldNamesRule];

/** An empty schema. These rules need no types, so a role's lazy schema stays unbuilt; graphql's `validate` would build it. */
const NO_TYPES = new GraphQLSchema({ assumeValid: true });

function validateDocument(document: DocumentNode): void {
  const context = (report: (error: GraphQLError) => never) =>
    new ValidationContext(NO_TYPES, document, new TypeInfo(NO_TYPES), report);
  const malformed = context(notGraphql);
  const excessive = context(({ message }) => fail('validationFailed', { text: message }));
  const rules = WHOLE_DOCUMENT_RULES.map((rule) => rule(malformed));
  visit(document, visitInParallel([...rules, MaxIntrospectionDepthRule(excessive)]));
}

function notGraphql({ message }: GraphQLError): never {
  return fail('notGraphql', {}, { path: ['query'], internal: message });
}

function parseText(text: string): DocumentNode {
  try {
    return parse(text, { noLocation: true, maxTokens: 100_000 });
  } catch (error) {
    // The parser is recursive: deep nesting overflows the stack.
    if (error instanceof RangeError) return fail('tooDeep', {});
    if (error instanceof GraphQLError) return notGraphql(error);
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

function rootTypeOf(role: RoleSchema, { operation }: OperationDefinitionNode): GraphQLObjectType {
  switch (operation) {
    case 'query':
      return role.roots.query;
    case 'mutation':
      return role.roots.mutation ?? fail('validationFailed', { text: 'no mutations exist' });
    case 'subscription':
      return role.roots.subscription ?? fail('validationFailed', { text: 'no subscriptions exist' });
    default:
      return operation satisfies never;
  }
}

function hasDirective({ directives }: OperationDefinitionNode, name: string): boolean {
  return directives?.some((directive) => directive.name.value === name) ?? false;
}

/** Returns the variables. A variable has the type of the position where it is used, as nullable as it was declared. */
function variablesOf(
  { variableDefinitions = [] }: OperationDefinitionNode,
  usages: ReadonlyMap<string, Usage>,
  used: ReadonlySet<string>,
): PreparedDocument['variables'] {
  return new Map(
    variableDefinitions.map((node) => {
      const name = node.variable.name.value;
      const usage = usages.get(name);
      const type = usage ? typeAs(node.type, usage.type) : null;
      const path = usage?.path ?? [];
      const defaultValue = node.defaultValue ?? null;
      const defaultProblem = defaultValue && type ? literalProblem(defaultValue, type) : null;
      const isUsed = used.has(name);
      const declared = printedType(node.type);
      const isRequired = usage?.isRequired ?? false;
      const common = { name, type, declared, isRequired, isUsed, path };
      return [name, { ...common, defaultValue, defaultProblem }] as const;
    }),
  );
}

/** Returns the error of a literal as a value of the type. A literal says more than the JSON value of a variable: `red` is a name, `"red"` a
 *  string, and `1.0` a float. */
function literalProblem(node: ConstValueNode, type: GraphQLInputType): EngineError | null {
  // Null of a non-null type has an error of its own (variables.ts).
  if (node.kind === Kind.NULL) return null;
  try {
    readInput(node, type, { variables: {}, byValue: new Set() });
    return null;
  } catch (error) {
    if (error instanceof EngineError) return error;
    throw error;
  }
}

function typeAs(node: TypeNode, used: GraphQLInputType): GraphQLInputType {
  switch (node.kind) {
    case Kind.NON_NULL_TYPE: {
      const inner = typeAs(node.type, used);
      return inner instanceof GraphQLNonNull ? inner : new GraphQLNonNull(inner);
    }
    case Kind.LIST_TYPE: {
      const list = getNullableType(used);
      if (list instanceof ArrayType) return list;
      return new GraphQLList(typeAs(node.type, isListType(list) ? list.ofType : list));
    }
    case Kind.NAMED_TYPE:
      return getNamedType(used);
    default:
      return node satisfies never;
  }
}
