/** The Plan: the meaning of a GraphQL request in terms of tables, before any SQL exists. Pure data.
 *  Built by plan/, compiled into statements by sql/, run by execute/. Every value is a Leaf, so one plan serves every caller
 *  whose request has the same text and the same variable shape.
 *  Not here: SQL text, GraphQL types. */
import type { ValueNode } from 'graphql';
import type { InputValidation } from '../resolve/model/webhook.ts';
import type { ActionCall, KeyedRows } from './action-types.ts';
import type { MutationRoot } from './mutation-types.ts';
import type { QueryRoot } from './query-types.ts';
import type { JoinPaths, RemoteCall, RemoteJoin } from './remote-types.ts';
import type { SchemaText } from './schema-text.ts';

export type Plan = {
  readonly operation: 'query' | 'mutation' | 'subscription';
  /** The root fields, in response order. */
  readonly roots: readonly Root[];
  /** Requests to external services; absent when there are none. */
  readonly calls?: readonly Call[];
  /** Joins across sources and remote schemas; absent when there are none. */
  readonly joins?: readonly RemoteJoin[];
  /** Webhooks that validate the input, called one after the other before anything runs; absent when there are none. */
  readonly validations?: readonly Validation[];
};

/** A validation webhook and its input: rows or conditions in an argument as the client wrote it. `steps` are the fields that
 *  lead to nested rows: `['articles', 'data']`. */
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
      /** True when it calls a function that may write, so that it must not run twice. */
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
  /** Finished JSON text: `__typename`, placeholders. */
  | { readonly kind: 'local'; readonly alias: string; readonly json: string }
  /** Text that is written when the plan runs: introspection, the SDL of a subgraph. */
  | { readonly kind: 'schema-text'; readonly alias: string; readonly text: SchemaText }
  /** A field of the answer to a call, by index. */
  | { readonly kind: 'called'; readonly alias: string; readonly call: number; readonly field: number };

/** A request to an external service, or for rows by keys that come with the request. A query runs it in parallel with its
 *  statements, a mutation in the order of its fields. */
export type Call = ActionCall | RemoteCall | EntitiesCall;

/** Rows of entities by their keys, in the order of the representations. */
export type EntitiesCall = {
  readonly kind: 'entities';
  /** The argument `representations` as the client wrote it. */
  readonly representations: ValueNode;
  readonly alias: string;
  readonly joins: readonly EntityRows[];
};

/** The rows of one requested type; `fields` are the fields of its key. */
export type EntityRows = KeyedRows & {
  readonly typeName: string;
  /** The positions of keys of joins in an entity; null when there are none. */
  readonly paths: JoinPaths | null;
};
