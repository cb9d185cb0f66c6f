/** The state shared by the planners of one request: the prepared document, the values of its variables, the role's access to
 *  tables, and the webhooks, calls and joins found so far. Also declares the planners that call each other recursively.
 *  Not here: preparing the document (document.ts), the planners (plan.ts hands them in). */
import type {
  FieldNode,
  FragmentDefinitionNode,
  GraphQLField,
  GraphQLInputType,
  GraphQLObjectType,
  OperationDefinitionNode,
  ValueNode,
} from 'graphql';
import { type EngineError, fail, type PathStep } from '../errors/engine-error.ts';
import { accessOf } from '../resolve/access.ts';
import type { SelectAccess, TableAccess } from '../resolve/model/access.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { FALSE, type Predicate, type VisibleIf } from '../resolve/predicate.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';
import type { JoinedOrigin } from '../schema/origin.ts';
import type { RoleSchema } from '../schema/role-schemas.ts';
import type { Conditions } from './conditions.ts';
import type { Field } from './query-types.ts';
import type { RemoteJoin } from './remote-types.ts';
import type { SchemaText } from './schema-text.ts';
import { InputSize, SelectionSize } from './selection-size.ts';
import type { Call, Validation } from './types.ts';

/** A document that has been parsed and validated, with the operation to run. */
export type PreparedDocument = {
  readonly role: RoleSchema;
  readonly operation: OperationDefinitionNode;
  /** The root type of the operation. */
  readonly rootType: GraphQLObjectType;
  readonly fragments: Fragments;
  /** The declared variables by name, in document order. */
  readonly variables: ReadonlyMap<string, VariableDefinition>;
  /** The values of boolean variables that skip what is not valid. Empty when the document is valid for all values. */
  readonly conditions: Conditions;
  /** True when several root fields are allowed. A subscription needs a directive for that. */
  readonly mayHaveManyRoots: boolean;
};

export type VariableDefinition = {
  readonly name: string;
  /** The type at the position of use; null for a variable that is unused or used only inside JSON, which may have any value. */
  readonly type: GraphQLInputType | null;
  /** The declared type as written: `[Int!]!`. */
  readonly declared: string;
  /** True when a position of use is not nullable. */
  readonly isRequired: boolean;
  readonly defaultValue: ValueNode | null;
  /** The error of a default that is no literal of the type, raised when a request uses the default. */
  readonly defaultProblem: EngineError | null;
  /** True when the operation uses the variable. A value for one that it does not use is refused. */
  readonly isUsed: boolean;
  /** The first position of use, at which an error in the value is reported. */
  readonly path: readonly PathStep[];
};

/** The variables whose values the plans of a document depend on, not only their shape. */
export type VariableDependencies = {
  /** Variables whose value a plan depends on. */
  readonly byValue: ReadonlySet<string>;
  /** Variables that hold an id, a cursor or representations. A plan depends on the facet of the value. */
  readonly facets: ReadonlyMap<string, Facet>;
};

/** Returns the part of a variable's value that a plan depends on, as text. Raises the errors of an invalid value. */
type Facet = (value: unknown) => string;

/** The fragments of a document by name. */
export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

export type SelectedField = {
  /** The name in the response. */
  readonly alias: string;
  readonly name: string;
  /** All nodes of this response name; their arguments are equal. */
  readonly nodes: readonly FieldNode[];
  /** The definition of the field; null for `__typename`. */
  readonly field: GraphQLField<unknown, unknown> | null;
};

/** A selected field that is not `__typename`: its definition, and all nodes of its response name. */
export type SelectedNodes = {
  readonly field: GraphQLField<unknown, unknown>;
  readonly nodes: readonly FieldNode[];
};

/** The planners that take part in a recursion: rows hold fields, and fields hold rows and joins. */
export type Planners = {
  /** Plans one field selected in a row of a table. */
  readonly field: (selected: SelectedField, type: GraphQLObjectType, context: PlanContext) => Field;
  /** Plans a join and returns its index in `context.joins`. */
  readonly join: (to: JoinedOrigin['to'], selected: SelectedNodes, context: PlanContext) => number;
};

/** The most statements of one mutation. Each takes a round trip and some 0.2 ms of CPU, and they hold a transaction together. */
const MOST_WRITES = 5_000;

export class PlanContext {
  readonly document: PreparedDocument;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Webhooks that validate the input, in the order they are called. */
  readonly validations: Validation[] = [];
  /** Requests to external services; each is completed when the whole request is planned. */
  readonly calls: (() => Call)[] = [];
  /** Joins planned so far. */
  readonly joins: RemoteJoin[] = [];
  /** Texts about the schema by what they select, however many fields of the response have them. */
  readonly schemaTexts = new Map<string, SchemaText>();
  /** The fields selected and the input values read so far. */
  readonly size: SelectionSize;
  readonly inputs: InputSize;
  /** False where a join is refused: in streams and in events of remote schemas, and in live queries unless the feature is on. */
  mayJoin: boolean;
  /** The variables whose values the plan depends on, as found so far. */
  readonly byValue = new Set<string>();
  readonly facets = new Map<string, Facet>();
  readonly planners: Planners;
  #writes = 0;

  constructor(document: PreparedDocument, variables: Readonly<Record<string, unknown>>, planners: Planners) {
    this.document = document;
    this.variables = variables;
    this.planners = planners;
    const { role, model } = document.role;
    this.size = new SelectionSize(model.requestBounds);
    this.inputs = new InputSize(model.requestBounds, role);
    this.mayJoin = document.operation.operation !== 'subscription';
  }

  countFields(more: number): void {
    this.size.count(more);
  }

  /** Counts statements that write. Raises `tooManyWrites`; administrators have no limit. */
  countWrites(more: number): void {
    this.#writes += more;
    const isLimited = this.document.role.role !== ADMIN_ROLE;
    if (isLimited && this.#writes > MOST_WRITES) fail('tooManyWrites', { most: MOST_WRITES });
  }

  access(table: ResolvedTable): TableAccess {
    return accessOf(table, this.document.role.role);
  }

  /** Returns the role's select permission, which is never null for a table in the role's schema. */
  select(table: ResolvedTable): SelectAccess | null {
    return this.access(table).select;
  }

  /** Returns `visibleIf` for the columns whose values the role sees only in some rows; empty when it sees them in all rows. */
  visibleIf(table: ResolvedTable, columns: readonly string[]): { readonly visibleIf?: VisibleIf } {
    const cells = this.select(table)?.cells.columns;
    if (!cells || cells.size === 0) return {};
    const partly = columns.flatMap((name) => {
      const condition = cells.get(name);
      return condition ? [[name, condition] as const] : [];
    });
    return partly.length === 0 ? {} : { visibleIf: Object.fromEntries(partly) };
  }

  /** Returns the filter of the rows the role may read; FALSE when it may read none. */
  filterOf(table: ResolvedTable): Predicate {
    return this.select(table)?.filter ?? FALSE;
  }
}

/** Throws, because the role's schema contains a mutation only when the role has the permission. */
export function notPermitted(): never {
  throw new Error('a mutation was planned that the role has no permission for');
}
