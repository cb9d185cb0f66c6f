/** A remote schema of the model.
 *  Not here: its types (resolve/upstream.ts), how it is resolved (resolve/remote-schema.ts). */

import type { Header } from '../../metadata/schema/common.ts';
import type { UpstreamSchema } from '../upstream.ts';

/** A GraphQL service whose schema is part of the engine's schema. */
export type ResolvedRemoteSchema = {
  readonly name: string;
  readonly endpoint: RemoteEndpoint;
  readonly names: RemoteNames;
  readonly schema: UpstreamSchema;
  /** The part that a role sees, by role; null when every role sees the whole schema. Read through remoteSchemaFor (access.ts). */
  readonly permissions: ReadonlyMap<string, UpstreamSchema> | null;
  /** The option --remote-schema-prioritize-data: data of an answer is used even when the answer has errors. */
  readonly prioritizesData: boolean;
  /** The option --remote-schema-skip-nulls: arguments that are null are not sent. */
  readonly skipsNulls: boolean;
};

/** How requests reach a remote schema. */
export type RemoteEndpoint = {
  /** The URL of the metadata, which may contain `{{NAME}}` for environment variables. */
  readonly url: string;
  readonly headers: readonly Header[];
  readonly forwardsClientHeaders: boolean;
  readonly timeoutSeconds: number;
};

export type RemoteNames = {
  /** The root field that contains the root fields of the remote schema; null when there is none. */
  readonly namespace: string | null;
  /** Our name of each type, by the remote name. */
  readonly types: ReadonlyMap<string, string>;
  /** The remote name of each type, by our name. */
  readonly upstreamTypes: ReadonlyMap<string, string>;
  /** Our names of fields, by the remote names of type and field. A field that is not listed keeps its name. */
  readonly fields: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** True when an object type has another name here. */
  readonly renamesObjects: boolean;
};
