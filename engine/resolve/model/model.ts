/** The Model: the metadata, resolved against the catalogs of its sources. A model is immutable and belongs to one snapshot; schema/, plan/ and
 *  sql/ read nothing else. Objects that do not resolve are not part of it but are listed as inconsistencies (inconsistency.ts).
 *  Not here: its parts, one file for each concept beside this one; how they are resolved (resolve.ts). */

import type { RequestBounds, RequestPolicies } from '../request-policy.ts';
import type { Routes } from '../routes.ts';
import type { ResolvedAction } from './action.ts';
import type { ActionTypes } from './custom-type.ts';
import type { ResolvedRemoteSchema } from './remote-schema.ts';
import type { ResolvedCronTrigger, ResolvedScheduledEvent } from './scheduled-event.ts';
import type { ResolvedSource } from './source.ts';
import type { ResolvedRemoteRelationship } from './table.ts';

export type Model = {
  /** The sources by name, in metadata order. */
  readonly sources: ReadonlyMap<string, ResolvedSource>;
  /** The actions by name, in metadata order. */
  readonly actions: ReadonlyMap<string, ResolvedAction>;
  /** The types that arguments and results of actions may have. */
  readonly customTypes: ActionTypes;
  /** The remote schemas by name, in metadata order. */
  readonly remoteSchemas: ReadonlyMap<string, ResolvedRemoteSchema>;
  /** The cron triggers by name, in metadata order. */
  readonly cronTriggers: ReadonlyMap<string, ResolvedCronTrigger>;
  /** The declared events, by name, in metadata order. */
  readonly scheduledEvents: ReadonlyMap<string, ResolvedScheduledEvent>;
  /** The names of all types except scalars. */
  readonly typeNames: { readonly has: (name: string) => boolean };
  readonly typeRelationships: TypeRelationships;
  /** Every role that an object names. Any other role has an empty schema. */
  readonly roles: ReadonlySet<string>;
  /** The names in --experimental-features, and those of the flags that ResolveOptions names. */
  readonly features: ReadonlySet<string>;
  readonly requestPolicies: RequestPolicies;
  readonly requestBounds: RequestBounds;
  /** REST endpoints, by path. */
  readonly routes: Routes;
};

/** Relationships that start in remote schemas, by remote schema, type and name. Types are spelled as the remote schema spells them. */
export type TypeRelationships = ReadonlyMap<
  string,
  ReadonlyMap<string, ReadonlyMap<string, ResolvedRemoteRelationship>>
>;

/** A relationship that leads out of its source or starts in a remote schema. */
