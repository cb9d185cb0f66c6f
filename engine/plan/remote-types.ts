/** A call to a remote schema, as part of a Plan: the document it is asked, and what stands where in its answer. Pure data.
 *  Made by remote-schema.ts, sent by execute/remote-schema.ts. Not here: other calls, and the Plan (types.ts). */

import type { ResolvedRemoteSchema } from '../resolve/types.ts';
import type { Preset, UpstreamSchema } from '../resolve/upstream.ts';
import type { JoinPlaces } from './join-types.ts';

/** The document a remote schema is asked; all its fields at one level of the request. */
export type RemoteCall = {
  readonly kind: 'remote';
  readonly remote: ResolvedRemoteSchema;
  /** What the role sees of it, with its presets. */
  readonly part: UpstreamSchema;
  readonly isRepeatable: boolean;
  readonly operationName: string | null;
  readonly query: string;
  readonly variables: readonly RemoteVariable[];
  /** In the order of the document. */
  readonly fields: readonly RemoteField[];
};

export type RemoteVariable =
  /** The client's, under its own name; `type` where presets go into its value. */
  | { readonly kind: 'given'; readonly name: string; readonly type: string | null }
  | { readonly kind: 'preset'; readonly name: string; readonly preset: Preset };

/** A root field of the sent document. */
export type RemoteField = {
  /** Its name in the answer, and the whole way to it in ours. */
  readonly path: readonly string[];
  /** A value is passed on whatever it is: the reference does, and services rely on it. */
  readonly shape: 'object' | 'list' | 'any';
  readonly isNullable: boolean;
  /** Where names of types stand in it that are other names here; null: nowhere. */
  readonly typeNames: TypeNamePlaces | null;
  /** Where keys stand in it for what is found elsewhere. */
  readonly places: JoinPlaces | null;
};

export type TypeNamePlaces = {
  readonly own: ReadonlySet<string>;
  readonly inner: ReadonlyMap<string, TypeNamePlaces>;
};
