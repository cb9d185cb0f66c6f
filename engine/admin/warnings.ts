/** Warnings about a change of the document: it changes an object that a custom resource manages, it declares a restriction that
 *  the engine does not enforce, or it has an event trigger with an unusual name. In: two documents. Out: one warning per object.
 *  Not here: the operator's ledger (ledger.ts), which restrictions are enforced (resolve/unenforced.ts). */
import { fail } from '../errors/engine-error.ts';
import { inSlices } from '../limits/slices.ts';
import { changedKeys } from '../metadata/diff.ts';
import { objectKey, parseKey } from '../metadata/objects.ts';
import { printQualified } from '../metadata/schema/common.ts';
import { TRIGGER_NAME } from '../metadata/schema/event.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { Gateway } from '../state/gateway.ts';
import type { Warning } from '../state/warning.ts';
import { entryOf } from './ledger.ts';

/** Returns the answer with these warnings after its own. Only an object can have warnings. */
export function withWarnings(answer: unknown, warnings: readonly Warning[]): unknown {
  const isObject = typeof answer === 'object' && answer !== null && !Array.isArray(answer);
  if (warnings.length === 0 || !isObject) return answer;
  const { warnings: own = [] } = answer as { readonly warnings?: readonly object[] };
  return { ...answer, warnings: [...own, ...warnings] };
}

/** Returns a warning for each changed object that a custom resource owns. Reads the operator's ledger only if something changed. */
export async function managedChanges(
  ledger: (() => unknown) | null,
  before: Metadata,
  after: Metadata,
): Promise<readonly Warning[]> {
  const keys = ledger ? await inSlices(changedKeys(before, after)) : [];
  if (!ledger || keys.length === 0) return [];
  const state = ledger();
  return keys.flatMap((key) => {
    const owner = entryOf(state, key)?.cr;
    return owner === undefined ? [] : [warningOf(key, owner)];
  });
}

/** Raises `metadataWarnings`. */
export function refuseWarnings(warnings: readonly object[]): never {
  const reason = `${warnings.length} of them, see internal`;
  fail('metadataWarnings', { reason }, { internal: warnings });
}

function warningOf(key: string, owner: string): Warning {
  const message = `${key} belongs to the custom resource ${owner}, whose operator may put it back; change that instead`;
  return { code: 'managed-object', message, type: parseKey(key)?.kind ?? '', name: key };
}

/** Returns a warning for each new event trigger whose name `create_event_trigger` would refuse. */
export function triggerNameWarnings(before: Metadata, after: Metadata): readonly Warning[] {
  if (before === after) return [];
  const known = new Set(triggersOf(before).map(({ key }) => key));
  return triggersOf(after)
    .filter(({ key, trigger }) => !TRIGGER_NAME.test(trigger) && !known.has(key))
    .map(({ trigger, owner }) => ({
      code: 'illegal-event-trigger-name',
      message: `The event trigger with name "${trigger}" may not work as expected, use only alphanumeric, underscore and hyphens in an event trigger name`,
      type: 'event_trigger',
      name: `event_trigger ${trigger} in ${owner}`,
    }));
}

type NamedTrigger = { readonly key: string; readonly trigger: string; readonly owner: string };

function triggersOf({ sources }: Metadata): readonly NamedTrigger[] {
  return sources.flatMap(({ name: source, tables }) =>
    tables.flatMap(({ table, event_triggers: triggers }) =>
      (triggers ?? []).map(({ name }) => ({
        key: objectKey('event_trigger', source, table.schema, table.name, name),
        trigger: name,
        owner: `table ${printQualified(table)} in source ${source}`,
      })),
    ),
  );
}

/** Returns a warning for each object whose restrictions are not enforced now and were enforced or absent before. */
export function unenforcedChanges(
  gateway: Gateway,
  before: Metadata,
  after: Metadata,
): readonly (Warning & { readonly code: 'not-enforced' })[] {
  if (before === after) return [];
  const known = new Set(gateway.unenforced(before).map(({ key }) => key));
  return gateway
    .unenforced(after)
    .filter(({ key }) => !known.has(key))
    .map(({ key, type, name, reason }) => ({
      code: 'not-enforced',
      message: `${name}: ${reason}`,
      type,
      name: key,
    }));
}
