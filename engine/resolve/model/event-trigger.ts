/** An event trigger of the model: what it captures, and which events are deleted.
 *  Not here: how it is resolved (resolve/event-trigger.ts), events (events/). */
import type { QualifiedName, ResponseTransform } from '../../metadata/schema/common.ts';
import type { ResolvedColumn } from './column.ts';
import type { EventWebhook, Retries } from './webhook.ts';

export type ResolvedEventTrigger = {
  readonly name: string;
  readonly table: QualifiedName;
  readonly captures: readonly Capture[];
  /** True when administrators may create its events by hand. */
  readonly isManual: boolean;
  /** True when rows written by replication are captured too. */
  readonly isAlways: boolean;
  readonly webhook: EventWebhook;
  readonly responseTransform?: ResponseTransform;
  readonly retries: Retries;
  /** True when an environment variable that it sends is missing or forbidden: rows are captured, and their events wait. */
  readonly isHeld: boolean;
  /** The schedule and the scope of deleting old events; absent when cleanup is paused or not configured. */
  readonly cleanup?: Cleanup;
};

export type Capture = {
  readonly operation: 'INSERT' | 'UPDATE' | 'DELETE';
  /** The columns of which an update must change one; null means any column. */
  readonly watched: readonly string[] | null;
  /** The columns that are sent; null means the whole row as Postgres prints it. */
  readonly sent: readonly Pick<ResolvedColumn, 'name' | 'json' | 'type'>[] | null;
};

export type Cleanup = { readonly schedule: string } & CleanupScope;

/** The part of the event log that is deleted, and how. */
export type CleanupScope = {
  readonly olderThanHours: number;
  /** The number of events that one statement deletes. */
  readonly batchSize: number;
  /** The time limit of one statement. */
  readonly timeoutSeconds: number;
  readonly withInvocations: boolean;
};
