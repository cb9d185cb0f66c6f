/** The Plan: what a GraphQL request means, in terms of tables, before any SQL exists. Pure data.
 *  Made by plan/, folded into statements by sql/, run by execute/. Every value is a Leaf, so one plan serves every caller
 *  whose request has the same text and the same variable shape.
 *  Not here: SQL text, GraphQL types. */
import type { ValueNode } from 'graphql';
import type { InputValidation } from '../resolve/types.ts';
import type { ActionCall, KeyedRows } from './action-types.ts';
import type { MutationRoot } from './mutation-types.ts';
import type { QueryRoot } from './query-types.ts';
import type { JoinPlaces, RemoteCall, RemoteJoin } from './remote-types.ts';

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

/** Rows of entities by their keys, in the order of the representations. */
export type EntitiesCall = {
  readonly kind: 'entities';
  /** As the client wrote them. */
  readonly representations: ValueNode;
  /** Of the field in the response. */
  readonly alias: string;
  readonly joins: readonly EntityRows[];
};

/** Of one type that is asked for; `fields` are those of its key. */
export type EntityRows = KeyedRows & {
  readonly typeName: string;
  /** What is found elsewhere, in an entity. */
  readonly places: JoinPlaces | null;
};
