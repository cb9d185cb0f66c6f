/** What a metadata document may contain now and the engine of release 0.3.0 cannot read: its parser refuses a document with any of it.
 *  In: a document as JSON. Out: the paths. Not here: the tables (downgrade.ts). */
import { isRecord } from '../json/value.ts';

/** The names of references to named values and secret files, in any object. 0.3.0 reads `dynamic_from_file`. */
const REFERENCE = /^(?!dynamic_from_file$)(?:\w+_)?from_(?:file|value)$/;

/** Members and values by their path. Items of lists have no part in it. */
const MEMBERS: readonly { readonly at: RegExp; readonly is?: readonly unknown[] }[] = [
  { at: /^scheduled_events$/ },
  { at: /^api_limits\.response_limit$/ },
  { at: /^cron_triggers\.timezone$/ },
  { at: /^opentelemetry\.exporter_otlp\.protocol$/, is: ['http/protobuf'] },
  { at: /^sources\.kind$/, is: ['alloy', 'citus', 'cockroach'] },
  { at: /^sources\.configuration\..*\.connection_parameters\.password\.from_env$/ },
];

/** Data of users, in which every name is allowed. */
const OPAQUE =
  /(?:^|\.)(?:payload|filter|check|set|column_config|custom_column_names|request_transform|response_transform)$/;

/** Returns the paths of what release 0.3.0 cannot read, such as `sources[0].kind`. */
export function unknownToEarlier(document: unknown): readonly string[] {
  return membersOf(document, '', '');
}

function membersOf(value: unknown, path: string, shown: string): readonly string[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => membersOf(item, path, `${shown}[${index}]`));
  }
  if (!isRecord(value) || OPAQUE.test(path)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const [at, place] = [path, shown].map((before) => (before === '' ? name : `${before}.${name}`)) as [
      string,
      string,
    ];
    return isUnknown(name, at, member) ? [place] : membersOf(member, at, place);
  });
}

function isUnknown(name: string, path: string, value: unknown): boolean {
  return (
    REFERENCE.test(name) ||
    MEMBERS.some(({ at, is }) => at.test(path) && (is === undefined || is.includes(value)))
  );
}
