/** Event triggers of one source: the columns they watch and send, and their webhook. In: the metadata of tables. Out:
 *  ResolvedEventTrigger by name. Not here: what captures rows in the database (sql/event-trigger.ts), sending (events/). Reference: docs/reference/behaviour/event-triggers.md. */

import { printDistribution } from '../catalog/distribution.ts';
import { fail, withPath } from '../errors/engine-error.ts';
import { siblingReferences } from '../metadata/references.ts';
import type { Columns, Header, RequestTransform } from '../metadata/schema/common.ts';
import { printQualified, qualifiedKey } from '../metadata/schema/common.ts';
import { type CleanupConfig, type EventTrigger, MOST_TRIGGER_NAME_BYTES } from '../metadata/schema/event.ts';
import { hoursAgo, timerSeconds } from '../metadata/schema/number.ts';
import type { PartialSource, ResolveContext } from './context.ts';
import { eventTriggerSubject } from './inconsistency.ts';
import { noColumn } from './misnamed.ts';
import type { Capture, Cleanup, CleanupScope, ResolvedEventTrigger } from './model/event-trigger.ts';
import type { ResolvedTable } from './model/table.ts';
import type { EventWebhook } from './model/webhook.ts';
import { parseSchedule } from './schedule.ts';

const OPERATIONS = [
  ['insert', 'INSERT'],
  ['update', 'UPDATE'],
  ['delete', 'DELETE'],
] as const;

/** Returns the event triggers that fit, by name, in metadata order. `taken` are the names used by other sources. */
export function eventTriggersOf(
  at: PartialSource,
  taken: Set<string>,
  { variables, found }: ResolveContext,
): ReadonlyMap<string, ResolvedEventTrigger> {
  const resolved = new Map<string, ResolvedEventTrigger>();
  for (const [key, table] of at.tables) {
    for (const definition of at.definitions.get(key)?.event_triggers ?? []) {
      const subject = eventTriggerSubject(table, definition);
      const trigger = found.attempt(subject, () => {
        if (taken.has(definition.name)) fail('eventTriggerExists', { name: definition.name });
        return resolveEventTrigger(definition, table, at);
      });
      if (!trigger) continue;
      const fault = variables.faultOf('event_trigger', definition);
      if (fault) found.add(subject, fault);
      taken.add(trigger.name);
      resolved.set(trigger.name, fault ? { ...trigger, isHeld: true } : trigger);
    }
  }
  return resolved;
}

function resolveEventTrigger(
  trigger: EventTrigger,
  table: ResolvedTable,
  at: PartialSource,
): ResolvedEventTrigger {
  const { name, definition, retry_conf: retries, response_transform: responseTransform } = trigger;
  if (new TextEncoder().encode(name).length > MOST_TRIGGER_NAME_BYTES) {
    refuse(`event trigger name can be at most ${MOST_TRIGGER_NAME_BYTES} characters`);
  }
  const captures = OPERATIONS.flatMap(([key, operation]): Capture[] => {
    const wanted = definition[key];
    if (!wanted) return [];
    const watched = namesIn(wanted.columns, table);
    return [{ operation, watched, sent: sentOf(wanted.payload ?? '*', table) }];
  });
  const catalogTable = at.catalog.tables.get(qualifiedKey(table.table));
  const isView = catalogTable?.kind.endsWith('view');
  if (isView && captures.length > 0) refuse('rows of a view cannot be watched');
  if (catalogTable?.distribution && captures.length > 0) {
    const text =
      `rows of "${printQualified(table.table)}" cannot be watched because the table is ${printDistribution(catalogTable.distribution)}: ` +
      'Citus has triggers on local tables only. Write to a local table as well, or send a manual trigger';
    const [key] = OPERATIONS.find(([each]) => definition[each])!;
    fail('distributionUnsupported', { text }, { path: ['definition', key] });
  }
  return {
    name,
    table: table.table,
    captures,
    isManual: definition.enable_manual ?? false,
    isAlways: trigger.trigger_on_replication ?? false,
    webhook: webhookOf(trigger),
    ...(responseTransform ? { responseTransform } : {}),
    isHeld: false,
    retries: { most: retries?.num_retries ?? 0, intervalSeconds: retries?.interval_sec ?? 10 },
    ...cleanupOf(trigger),
  };
}

/** Returns the scope of a cleanup with its defaults. Reference: docs/reference/behaviour/event-triggers.md. */
export function cleanupScope(
  config: Pick<CleanupConfig, 'clear_older_than' | 'batch_size' | 'timeout' | 'clean_invocation_logs'>,
): CleanupScope {
  return {
    olderThanHours: hoursAgo(config.clear_older_than),
    batchSize: config.batch_size ?? 10_000,
    timeoutSeconds: timerSeconds(config.timeout ?? 60),
    withInvocations: config.clean_invocation_logs ?? false,
  };
}

function cleanupOf({ cleanup_config: config }: EventTrigger): { readonly cleanup?: Cleanup } {
  if (!config) return {};
  withPath('cleanup_config', () => parseSchedule(config.schedule));
  return config.paused ? {} : { cleanup: { schedule: config.schedule, ...cleanupScope(config) } };
}

function webhookOf(trigger: EventTrigger): EventWebhook {
  const { webhook, retry_conf: retries } = trigger;
  const references = siblingReferences(trigger, 'webhook');
  if (references.length + (webhook === undefined ? 0 : 1) !== 1) {
    refuse('expecting one of webhook and webhook_from_env');
  }
  return eventWebhook(webhook ?? `{{${references[0]}}}`, trigger, retries?.timeout_sec ?? 60);
}

export function eventWebhook(
  url: string,
  settings: { readonly headers?: readonly Header[]; readonly request_transform?: RequestTransform },
  timeoutSeconds: number,
): EventWebhook {
  const { headers = [], request_transform: transform } = settings;
  return {
    url,
    headers,
    forwardsClientHeaders: false,
    timeoutSeconds: timerSeconds(timeoutSeconds),
    ...(transform ? { requestTransform: transform } : {}),
  };
}

function sentOf(columns: Columns, table: ResolvedTable): Capture['sent'] {
  const names = namesIn(columns, table);
  const all = [...table.columnByName.values()];
  if (names) return names.map((name) => table.columnByName.get(name)!);
  // Events spell these values as GraphQL responses do.
  return all.some(({ json }) => json === 'stringified' || json === 'geojson') ? all : null;
}

/** Returns the listed columns; null for all. Raises `columnNotExists`. */
function namesIn(columns: Columns, table: ResolvedTable): readonly string[] | null {
  if (columns === '*') return null;
  const missing = columns.find((name) => !table.columnByName.has(name));
  return missing === undefined ? columns : noColumn(missing, table);
}

function refuse(text: string): never {
  return fail('invalidConfiguration', { text });
}
