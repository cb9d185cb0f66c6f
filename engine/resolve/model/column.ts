/** A column of a table of the model, and the form of its values in JSON.
 *  Not here: types of databases (catalog/types.ts). */

import type { Scalar } from '../../catalog/scalars.ts';
import type { PgType } from '../../catalog/types.ts';
import type { Predicate } from '../predicate.ts';
import type { ResolvedEnum } from './enum.ts';

export type ResolvedColumn = {
  readonly name: string;
  readonly graphqlName: string;
  readonly type: PgType;
  readonly scalar: Scalar;
  readonly json: JsonForm;
  /** True when the field is nullable in the schema. */
  readonly isNullable: boolean;
  /** True when only the metadata says that the column is not null. */
  readonly isDeclared: boolean;
  /** The value is the result of an expression, evaluated when it is read. */
  readonly isComputed?: true;
  readonly hasDefault: boolean;
  /** False for generated and `always` identity columns, which no client can write. */
  readonly isWritable: boolean;
  /** True for the distribution column of a table of a Citus cluster, which can be inserted and not updated. */
  readonly isFixed?: boolean;
  readonly description: string | null;
  /** The enum of its values, when it refers to the key of an enum table. */
  readonly enum?: ResolvedEnum;
  /** Set for one role (schema/builder.ts): the column is null in rows that do not satisfy this. */
  readonly visibleIf?: Predicate;
};

/** How a value becomes JSON text. `bare`: the text of the value is JSON (integers, booleans, json, jsonb). `quoted`: through to_json
 *  (text, timestamps, floats). `stringified`: the text as a JSON string (--stringify-numeric-types). `geojson`: an object that
 *  PostGIS prints. `capitals`: the name of an enum value, where names are written in capitals. */
export type JsonForm = 'bare' | 'quoted' | 'stringified' | 'geojson' | 'capitals';
