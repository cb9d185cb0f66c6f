/** Objects that cannot do what they declare: a table whose name GraphQL forbids, a schedule without a time, a URL that no request can have,
 *  settings of the reference engine that this one only keeps.
 *  The engine keeps them, because documents of the reference engine have them, and reports them like restrictions that are not enforced.
 *  In: Metadata × ResolveOptions. Out: one entry per object. Pure, total. Not here: restrictions (unenforced.ts). */
import { objectKey } from '../metadata/objects.ts';
import type { Action } from '../metadata/schema/action.ts';
import { printQualified } from '../metadata/schema/common.ts';
import type { CronTrigger, DeclaredEvent, EventTrigger } from '../metadata/schema/event.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { MetricsConfig } from '../metadata/schema/policy.ts';
import type { QueryTags, Source, SourceCustomization } from '../metadata/schema/source.ts';
import type { Table } from '../metadata/schema/table.ts';
import type { Memo } from './memo.ts';
import { baseName, isGraphqlName } from './names.ts';
import { type Naming, namingOf, typeName } from './naming.ts';
import { neverComes } from './schedule.ts';
import type { ResolveOptions, Unenforced } from './types.ts';

const NO_CUSTOMIZATION: SourceCustomization = {};

export function withoutEffectIn(
  { sources, actions = [], cron_triggers = [], scheduled_events = [], metrics_config }: Metadata,
  options: ResolveOptions,
  memo: Memo,
): readonly Unenforced[] {
  return [
    ...sources.flatMap((source) => ofSource(source, options, memo)),
    ...actions.flatMap((action) => memo.of(ofAction, action)),
    ...cron_triggers.flatMap((trigger) => memo.of(ofCronTrigger, trigger)),
    ...scheduled_events.flatMap((event) => memo.of(ofScheduledEvent, event)),
    ...(metrics_config ? memo.of(ofMetricsConfig, metrics_config) : []),
  ];
}

function ofSource(
  { name, tables, customization, query_tags }: Source,
  { namingConvention }: ResolveOptions,
  memo: Memo,
): readonly Unenforced[] {
  const naming = memo.of(namingOf, customization ?? NO_CUSTOMIZATION, namingConvention);
  const ofTables = tables.flatMap((table) => [
    ...memo.of(ofTable, table, name, naming),
    ...memo.of(ofEventTriggers, table, name),
  ]);
  return query_tags ? [...memo.of(ofQueryTags, query_tags, name), ...ofTables] : ofTables;
}

function ofQueryTags({ disabled, omit_request_id }: QueryTags, source: string): readonly Unenforced[] {
  const wantsRequestId = omit_request_id === false && !disabled;
  return entry(objectKey('source', source), 'source', `source ${source}`, [
    wantsRequestId
      ? 'query_tags.omit_request_id: false has no effect, because statements that differ by request cannot stay prepared: remove it'
      : null,
  ]);
}

function ofMetricsConfig(config: MetricsConfig): readonly Unenforced[] {
  const set = (['analyze_query_variables', 'analyze_response_body'] as const).filter((name) => config[name]);
  return entry(
    objectKey('metrics_config'),
    'metrics_config',
    'metrics_config',
    set.map((name) => `${name} has no effect, because metrics contain no values of requests: remove it`),
  );
}

function ofTable({ table, configuration }: Table, source: string, naming: Naming): readonly Unenforced[] {
  const custom = configuration?.custom_name;
  const type = typeName(naming, custom ? { verbatim: custom } : baseName(table));
  if (isGraphqlName(type)) return [];
  const name = `table ${printQualified(table)} in source ${source}`;
  const reason = `the API does not have it, because "${type}" is not a valid GraphQL name: give the table a custom name`;
  return [{ key: objectKey('table', source, table.schema, table.name), type: 'table', name, reason }];
}

function ofEventTriggers({ table, event_triggers = [] }: Table, source: string): readonly Unenforced[] {
  return event_triggers.flatMap((trigger) =>
    entry(
      objectKey('event_trigger', source, table.schema, table.name, trigger.name),
      'event_trigger',
      `event_trigger ${trigger.name} of table ${printQualified(table)} in source ${source}`,
      [urlProblem(trigger), cleanupProblem(trigger)],
    ),
  );
}

function ofAction({ name, definition }: Action): readonly Unenforced[] {
  const { handler, request_transform } = definition;
  return entry(objectKey('action', name), 'action', `action ${name}`, [
    urlProblem({ webhook: handler, request_transform }),
  ]);
}

function ofCronTrigger(trigger: CronTrigger): readonly Unenforced[] {
  const { name, schedule } = trigger;
  return entry(objectKey('cron_trigger', name), 'cron_trigger', `cron_trigger ${name}`, [
    scheduleProblem('the schedule', schedule),
    urlProblem(trigger),
  ]);
}

function ofScheduledEvent(event: DeclaredEvent): readonly Unenforced[] {
  const { name } = event;
  return entry(objectKey('scheduled_event', name), 'scheduled_event', `scheduled_event ${name}`, [
    urlProblem(event),
  ]);
}

/** Returns one entry with all problems; nothing when there is none. */
function entry(
  key: string,
  type: string,
  name: string,
  problems: readonly (string | null)[],
): readonly Unenforced[] {
  const reason = problems.filter((problem) => problem !== null).join('; ');
  return reason === '' ? [] : [{ key, type, name, reason }];
}

function cleanupProblem({ cleanup_config }: EventTrigger): string | null {
  return cleanup_config ? scheduleProblem('the schedule of the cleanup', cleanup_config.schedule) : null;
}

function scheduleProblem(what: string, schedule: string): string | null {
  return neverComes(schedule) ? `${what} "${schedule}" has no time at which it is due: correct it` : null;
}

type Webhook = {
  readonly webhook?: unknown;
  readonly request_transform?: { readonly url?: unknown } | undefined;
};

/** Returns the problem of a URL that no value of a variable can mend. A transform may replace the URL. */
function urlProblem({ webhook, request_transform }: Webhook): string | null {
  if (typeof webhook !== 'string' || request_transform?.url !== undefined) return null;
  return canBeUrl(webhook) ? null : 'the webhook is no URL that begins with http:// or https://: correct it';
}

function canBeUrl(template: string): boolean {
  const fixed = template.split('{{', 1)[0]!;
  if (fixed !== template) return fixed === '' || /^https?:\/\//i.test(fixed);
  const protocol = URL.parse(template)?.protocol;
  return protocol === 'http:' || protocol === 'https:';
}
