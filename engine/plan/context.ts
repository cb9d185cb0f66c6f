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
import type { PathStep } from '../errors/engine-error.ts';
import { accessOf } from '../resolve/access.ts';
import { FALSE, type Predicate, type VisibleIf } from '../resolve/predicate.ts';
import type { ResolvedTable, SelectAccess, TableAccess } from '../resolve/types.ts';
import type { JoinedOrigin } from '../schema/origin.ts';
import type { RoleSchema } from '../schema/role-schemas.ts';
import type { Field } from './query-types.ts';
import type { RemoteJoin } from './remote-types.ts';
import { SelectionSize } from './selection-size.ts';
import type { Call, Validation } from './types.ts';

/** A document that has been parsed and validated, with the operation to run. */
export type PreparedDocument = {
  readonly role: RoleSchema;
  readonly operation: OperationDefinitionNode;
  /** What the operation selects from. */
  readonly rootType: GraphQLObjectType;
  readonly fragments: Fragments;
  /** By name, in document order. */
  readonly variables: ReadonlyMap<string, VariableDefinition>;
  /** Variables whose value, not only its shape, a plan depends on. Grows while plans are made. */
  readonly byValue: Set<string>;
  /** Likewise, variables that hold an id or a cursor, of which a plan depends on no more than this says. */
  readonly facets: Map<string, Facet>;
  /** A subscription may select several roots only when it says so. */
  readonly mayHaveManyRoots: boolean;
};

export type VariableDefinition = {
  readonly name: string;
  /** Null when it is used nowhere, or only inside JSON: then any value will do. */
  readonly type: GraphQLInputType | null;
  /** As written: `[Int!]!`. */
  readonly declared: string;
  readonly defaultValue: ValueNode | null;
  /** Where it is first used: an error in its value is reported there. */
  readonly path: readonly PathStep[];
};

/** A value → what of it a plan depends on. Raises what is wrong with it. */
export type Facet = (value: unknown) => string;

/** The fragments of a document by name. */
export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

export type SelectedField = {
  /** Response name. */
  readonly alias: string;
  readonly name: string;
  /** All nodes of this response name; their arguments are equal. */
  readonly nodes: readonly FieldNode[];
  /** Null for `__typename`. */
  readonly field: GraphQLField<unknown, unknown> | null;
};

/** The planners that take part in a recursion: rows hold fields, and fields hold rows and joins. */
export type Planners = {
  /** Plans one field selected in a row of a table. */
  readonly field: (selected: SelectedField, type: GraphQLObjectType, context: PlanContext) => Field;
  /** Plans a join and returns its index in `context.joins`. */
  readonly join: (
    to: JoinedOrigin['to'],
    selected: { readonly field: GraphQLField<unknown, unknown>; readonly nodes: readonly FieldNode[] },
    context: PlanContext,
  ) => number;
};

export class PlanContext {
  readonly document: PreparedDocument;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Webhooks that validate the input, in the order they are called. */
  readonly validations: Validation[] = [];
  /** Requests to external services; each is completed when the whole request is planned. */
  readonly calls: (() => Call)[] = [];
  /** Joins planned so far. */
  readonly joins: RemoteJoin[] = [];
  readonly planners: Planners;
  readonly #size = new SelectionSize();

  constructor(document: PreparedDocument, variables: Readonly<Record<string, unknown>>, planners: Planners) {
    this.document = document;
    this.variables = variables;
    this.planners = planners;
  }

  countFields(more: number): void {
    this.#size.count(more);
  }

  access(table: ResolvedTable): TableAccess {
    return accessOf(table, this.document.role.role);
  }

  /** Null never happens for a table the role's schema shows. */
  select(table: ResolvedTable): SelectAccess | null {
    return this.access(table).select;
  }

  /** `visibleIf` for those of the columns that the role does not see in every row; nothing where it does. */
  visibleIf(table: ResolvedTable, columns: readonly string[]): { readonly visibleIf?: VisibleIf } {
    const cells = this.select(table)?.cells.columns;
    if (!cells || cells.size === 0) return {};
    const partly = columns.flatMap((name) => {
      const condition = cells.get(name);
      return condition ? [[name, condition] as const] : [];
    });
    return partly.length === 0 ? {} : { visibleIf: Object.fromEntries(partly) };
  }

  /** Rows of the table the role may read; none when it may not read it at all. */
  filterOf(table: ResolvedTable): Predicate {
    return this.select(table)?.filter ?? FALSE;
  }
}

/** The role's schema shows a mutation only where it has the permission. */
export function notPermitted(): never {
  throw new Error('a mutation was planned that the role has no permission for');
}
