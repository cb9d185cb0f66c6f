/** The part of a plan that is about pages of rows (types.ts has the rest): which rows, what their cursors say, what is told of
 *  the page. Made by connection.ts, folded into SQL by sql/connection.ts. Pure data. */
import type { PgType } from '../catalog/types.ts';
import type { Leaf } from '../resolve/predicate.ts';
import type { PageInfoPart } from '../schema/origin.ts';
import type { Field, Select } from './types.ts';

/** A page of rows. `select` says which there are and in what order, which ends with the primary key; it has no limit. */
export type Connection = {
  readonly select: Select;
  /** What a cursor says, one each item of the order. */
  readonly keys: readonly (CursorKey & { readonly isNullable: boolean })[];
  /** Only rows after this one, or before it; null is null there, too. */
  readonly bound: {
    readonly side: 'after' | 'before';
    readonly values: readonly (Leaf | null)[];
  } | null;
  /** Null is all. */
  readonly size: number | null;
  /** The last rows, not the first. */
  readonly isFromEnd: boolean;
  /** Comparing a row with the cursor may raise an error. */
  readonly mayRaise?: true;
  readonly output: readonly ConnectionField[];
};

/** A value of the order, by the names that lead to it in a cursor. */
export type CursorKey = { readonly names: readonly string[]; readonly type: PgType };

type Constant = { readonly kind: 'constant'; readonly alias: string; readonly json: string };

export type ConnectionField =
  | Constant
  | { readonly kind: 'page-info'; readonly alias: string; readonly fields: readonly PageInfoField[] }
  | { readonly kind: 'edges'; readonly alias: string; readonly fields: readonly EdgeField[] };

export type PageInfoField = Constant | { readonly kind: PageInfoPart; readonly alias: string };

export type EdgeField =
  | Constant
  | { readonly kind: 'cursor'; readonly alias: string }
  | { readonly kind: 'node'; readonly alias: string; readonly fields: readonly Field[] };
