/** The Plan: what a GraphQL request means, in terms of tables, before any SQL exists. Pure data.
 *  Made by plan/, folded into statements by sql/, run by execute/. Every value is a Leaf, so one plan serves every caller
 *  whose request has the same text and the same variable shape.
 *  Not here: SQL text, GraphQL types. */
import type { ValueNode } from 'graphql';
import type { AggregateFunction } from '../catalog/aggregates.ts';
import type { CatalogIndex, PgType } from '../catalog/types.ts';
import type { PathStep } from '../errors/engine-error.ts';
import type { QualifiedName } from '../metadata/schema/common.ts';
import type { FunctionCall, Join, Leaf, NativeCall, Predicate, VisibleIf } from '../resolve/predicate.ts';
import type { InputValidation, JsonForm } from '../resolve/types.ts';
import type { ActionCall } from './action-types.ts';
import type { Connection } from './connection-types.ts';
import type { EntitiesCall } from './federation.ts';
import type { RemoteJoin } from './join-types.ts';
import type { RemoteCall } from './remote-types.ts';

export type Plan = {
  readonly operation: 'query' | 'mutation' | 'subscription';
  /** In response order. */
  readonly roots: readonly Root[];
  /** Others than databases who are asked; absent when there are none. */
  readonly calls?: readonly Call[];
  /** Absent when nothing is joined from elsewhere. */
  readonly joins?: readonly RemoteJoin[];
  /** Asked one after the other before anything runs; absent when nobody has to be asked. */
  readonly validations?: readonly Validation[];
};

/** A webhook, and the rows or conditions it is asked about: those in an argument as the client wrote it, under the
 *  fields that lead to nested ones: `['articles', 'data']`. */
export type Validation = {
  readonly webhook: InputValidation;
  readonly value: ValueNode;
  readonly steps: readonly string[];
};

/** One field of the response object. */
export type Root =
  | {
      readonly kind: 'database';
      readonly alias: string;
      readonly source: string;
      readonly query: QueryRoot;
      /** It calls a function that may write, so it must not be asked a second time. */
      readonly isVolatile?: boolean;
    }
  | {
      readonly kind: 'mutation';
      readonly alias: string;
      readonly source: string;
      readonly mutation: MutationRoot;
    }
  /** An object of roots: those of a source with a namespace. */
  | { readonly kind: 'namespace'; readonly alias: string; readonly roots: readonly Root[] }
  /** Finished JSON text: `__typename`, introspection, placeholders. */
  | { readonly kind: 'local'; readonly alias: string; readonly json: string }
  /** A part of what a call answers: its field of that number. */
  | { readonly kind: 'called'; readonly alias: string; readonly call: number; readonly field: number };

/** A request to somebody else than a database, or for rows by keys that come with the request. It goes out beside the statements of a query, and in its turn in a mutation. */
export type Call = ActionCall | RemoteCall | EntitiesCall;

export type QueryRoot =
  /** A JSON array of rows. */
  | { readonly kind: 'rows'; readonly select: Select }
  /** One row or null: by primary key. */
  | { readonly kind: 'row'; readonly select: Select }
  /** A JSON array of the next rows, and where the cursor stands after them: the only root of its request. */
  | { readonly kind: 'stream'; readonly select: Select }
  /** One object about many rows. */
  | ({ readonly kind: 'aggregate' } & Aggregate)
  /** One object: a page of rows. */
  | ({ readonly kind: 'connection' } & Connection)
  /** A list of objects, each about the rows of one group. */
  | { readonly kind: 'groups'; readonly groups: Groups };

/** Rows of one table: which, in what order, and what of each. Permission filter and limit are already merged in. */
export type Select = {
  readonly table: QualifiedName;
  /** The rows come from this call, which returns rows of `table`, and not from the table itself; or there is no such table,
   *  and they are a native query's. */
  readonly from?: FunctionCall | NativeCall | Keys;
  readonly fields: readonly Field[];
  readonly where: Predicate;
  readonly orderBy: readonly OrderItem[];
  /** SQL names; they lead orderBy. */
  readonly distinctOn: readonly string[];
  /** Of `distinctOn`. */
  readonly visibleIf?: VisibleIf;
  /** Validated non-negative integers, printed as literals (a parameter makes Postgres replan each call). */
  readonly limit: number | null;
  /** Past the limit, too, rows that come last together with those it ends with. */
  readonly withTies?: true;
  readonly offset: string | null;
};

/** Rows that come with the request: a column of each list of values, and one that counts them. */
export type Keys = {
  readonly keys: readonly { readonly column: string; readonly values: Leaf }[];
  readonly ordinal: string;
};

/** One key of a row's JSON object, in response order. Aliases within one list are distinct. */
export type Field =
  | {
      readonly kind: 'column';
      readonly alias: string;
      readonly column: string;
      readonly type: PgType;
      /** How the value becomes JSON text. */
      readonly json: JsonForm;
      readonly isNullable: boolean;
      /** Path inside a json column, from the `path` argument; null is the whole value. */
      readonly path: Leaf | null;
      /** Null in other rows. */
      readonly visibleIf?: Predicate;
    }
  /** A computed field that is a value. */
  | {
      readonly kind: 'computed';
      readonly alias: string;
      readonly call: FunctionCall;
      readonly type: PgType;
      readonly json: JsonForm;
      readonly path: Leaf | null;
      /** Null in other rows. */
      readonly visibleIf?: Predicate;
    }
  /** A computed field that returns rows: `select.from` is the call; one row or null unless `isList`. */
  | { readonly kind: 'called'; readonly alias: string; readonly isList: boolean; readonly select: Select }
  /** Found elsewhere by the plan's join of that number; until then the values of `keys` stand in its place. */
  | {
      readonly kind: 'joined';
      readonly alias: string;
      readonly keys: readonly Field[];
      readonly join: number;
    }
  | { readonly kind: 'constant'; readonly alias: string; readonly json: string }
  | { readonly kind: 'object'; readonly alias: string; readonly join: Join; readonly select: Select }
  | { readonly kind: 'array'; readonly alias: string; readonly join: Join; readonly select: Select }
  | ({ readonly kind: 'aggregate'; readonly alias: string; readonly join: Join } & Aggregate)
  | ({ readonly kind: 'connection'; readonly alias: string; readonly join: Join } & Connection)
  /** The row's global id, made of its table and key. */
  | {
      readonly kind: 'node-id';
      readonly alias: string;
      readonly table: QualifiedName;
      readonly key: readonly { readonly column: string; readonly type: PgType }[];
    };

/** Rows taken together. `select` says which, without the role's limit, and has no fields of its own. */
export type Aggregate = {
  readonly select: Select;
  readonly output: readonly AggregateField[];
};

/** One key of an aggregate's JSON object, in response order. */
export type AggregateField =
  | { readonly kind: 'constant'; readonly alias: string; readonly json: string }
  | { readonly kind: 'values'; readonly alias: string; readonly members: readonly AggregateMember[] }
  /** The rows themselves; `limit` is the smaller of what was asked for and what the role may have. */
  | {
      readonly kind: 'nodes';
      readonly alias: string;
      readonly fields: readonly Field[];
      readonly limit: number | null;
    };

export type AggregateMember =
  | { readonly kind: 'constant'; readonly alias: string; readonly json: string }
  | { readonly kind: 'values'; readonly alias: string; readonly members: readonly AggregateMember[] }
  | { readonly kind: 'value'; readonly alias: string; readonly value: AggregateValue };

export type AggregateValue =
  /** Of rows when there are no columns; of rows where it is not null, when there is one. */
  | {
      readonly kind: 'count';
      readonly columns: readonly string[];
      readonly isDistinct: boolean;
      readonly visibleIf?: VisibleIf;
    }
  /** `type` and `json` are the column's: a number is printed like those it was made of. */
  | {
      readonly kind: 'function';
      readonly fn: AggregateFunction;
      readonly column: string;
      /** Of a computed field, and `column` only names it. */
      readonly call?: FunctionCall;
      readonly type: PgType;
      readonly json: JsonForm;
      /** Other rows do not count. */
      readonly visibleIf?: Predicate;
    };

/** Rows in groups of equal keys. `where` decides which rows, `having` which groups; both hold the role's part already. */
export type Groups = Pick<Select, 'table' | 'where' | 'limit' | 'offset'> & {
  /** SQL names; none makes one group of all rows. */
  readonly keys: readonly string[];
  /** Of `keys`. */
  readonly visibleIf?: VisibleIf;
  readonly having: Predicate;
  readonly orderBy: readonly GroupOrder[];
  readonly output: readonly GroupField[];
};

export type GroupOrder = Pick<OrderItem, 'direction' | 'nulls'> & {
  readonly by:
    | { readonly kind: 'key'; readonly column: string }
    | { readonly kind: 'aggregate'; readonly value: AggregateValue };
};

/** One key of a group's JSON object. */
export type GroupField =
  | { readonly kind: 'constant'; readonly alias: string; readonly json: string }
  | { readonly kind: 'keys'; readonly alias: string; readonly fields: readonly Field[] }
  | { readonly kind: 'values'; readonly alias: string; readonly members: readonly AggregateMember[] };

/** A column of the table itself (`path` empty) or of a row reached over object relationships.
 *  Each step conjoins the target's row filter for the role. */
export type OrderItem = {
  readonly path: readonly { readonly join: Join; readonly filter: Predicate }[];
  readonly column: string;
  /** A computed field orders, and `column` only names it. */
  readonly call?: FunctionCall;
  /** A value over other rows orders, and `column` only names it. */
  readonly aggregate?: OrderAggregate;
  /** Other rows are ordered as if it were null there. */
  readonly visibleIf?: Predicate;
  readonly direction: 'asc' | 'desc';
  readonly nulls: 'first' | 'last';
};

/** Over the rows a join leads to, or those a call returns for the row; `filter` is the role's. */
export type OrderAggregate = {
  readonly rows:
    | { readonly kind: 'related'; readonly join: Join }
    | { readonly kind: 'called'; readonly call: FunctionCall };
  readonly filter: Predicate;
  readonly value: AggregateValue;
};

export type MutationRoot = {
  readonly action: Insert | NestedInsert | Update | NestedUpdate | UpdateMany | Delete;
  /** Of an `update-many`: the answer to each update, in a list. */
  readonly output: MutationOutput;
};

/** `response`: `{affected_rows, returning, __typename}` in the asked order; `row`: the one row or null. */
export type MutationOutput =
  | { readonly kind: 'response'; readonly fields: readonly MutationField[] }
  | { readonly kind: 'row'; readonly select: Select };

export type MutationField =
  | { readonly kind: 'affected-rows'; readonly alias: string }
  | { readonly kind: 'returning'; readonly alias: string; readonly select: Select }
  | { readonly kind: 'constant'; readonly alias: string; readonly json: string };

export type Insert = {
  readonly kind: 'insert';
  readonly table: QualifiedName;
  /** Union of the columns any row gives, presets included, in catalog order. */
  readonly columns: readonly { readonly column: string; readonly type: PgType }[];
  /** Same order as `columns`; 'default' where a row leaves the column out. At least one row. */
  readonly rows: readonly (readonly (Leaf | 'default')[])[];
  readonly onConflict: OnConflict | null;
  /** Must hold for every row written; TRUE is not tested. */
  readonly check: Predicate;
};

/** Rows of several tables inserted at once, each statement after those whose values it takes (ADR 9). */
export type NestedInsert = {
  readonly kind: 'nested-insert';
  /** What the answer is about: the rows of `isAnswered` steps. */
  readonly table: QualifiedName;
  readonly steps: readonly InsertStep[];
};

export type InsertStep = {
  /** Its leaves may be `inserted`: values earlier steps have kept. */
  readonly insert: Insert;
  /** Columns whose values later steps take; there is one row then. */
  readonly keeps: readonly string[];
  readonly isAnswered: boolean;
  /** The failure when no row was inserted, of which later steps take values; null: none does. */
  readonly unlessInserted: { readonly text: string; readonly path: Path } | null;
  /** From the root field's argument: `[0, 'author', 'data']`. */
  readonly path: Path;
};

type Path = readonly PathStep[];

export type OnConflict = {
  readonly target:
    | { readonly kind: 'constraint'; readonly name: string }
    /** The index that its SQL lets Postgres infer. */
    | { readonly kind: 'index'; readonly index: CatalogIndex }
    /** The unique index of these columns. */
    | { readonly kind: 'columns'; readonly columns: readonly string[] }
    /** Whichever it is; nothing is updated. */
    | { readonly kind: 'any' };
  /** Empty: do nothing. */
  readonly updateColumns: readonly string[];
  readonly presets: readonly Assignment[];
  readonly where: Predicate;
  /** Must hold for every row updated instead of inserted; absent: the insert's check. */
  readonly check?: Predicate;
};

export type Assignment =
  | {
      readonly kind: 'set' | 'increment' | 'multiply';
      readonly column: string;
      readonly type: PgType;
      readonly value: Leaf;
    }
  | {
      readonly kind: 'append' | 'prepend' | 'delete-key' | 'delete-element' | 'delete-at-path';
      readonly column: string;
      readonly type: PgType;
      readonly value: Leaf;
    }
  /** What the database gives a column nobody has written. */
  | { readonly kind: 'default'; readonly column: string; readonly type: PgType };

export type Update = {
  readonly kind: 'update';
  readonly table: QualifiedName;
  readonly set: readonly Assignment[];
  readonly where: Predicate;
  readonly check: Predicate;
  readonly reached?: Reached;
};

/** Only rows that belong to rows an earlier step has written. */
export type Reached = {
  readonly rows: Leaf;
  /** From the written rows. */
  readonly join: Join;
  /** Of the written rows. */
  readonly where: Predicate;
};

/** An update, then deletes and updates of related rows, each seeing what the ones before have done (ADR 8). */
export type NestedUpdate = {
  readonly kind: 'nested-update';
  /** What the answer is about: the rows of the first step. */
  readonly table: QualifiedName;
  readonly steps: readonly UpdateStep[];
};

export type UpdateStep = {
  readonly write: Update | Delete;
  /** Later steps take its rows. */
  readonly keepsRows: boolean;
  readonly isAnswered: boolean;
  /** From the root field's arguments: `['_related', 'articles', 'update', 0]`. */
  readonly path: Path;
};

/** One after the other, each seeing what the ones before have done. */
export type UpdateMany = {
  readonly kind: 'update-many';
  readonly updates: readonly (Update | NestedUpdate | Nothing)[];
};

/** Nothing is to be written; `json` is the answer that says so. */
export type Nothing = { readonly kind: 'nothing'; readonly json: string };

export type Delete = {
  readonly kind: 'delete';
  readonly table: QualifiedName;
  readonly where: Predicate;
  readonly reached?: Reached;
};
