/** Translates an inconsistency that the engine reports to the outcome of the resource. Objects in an unavailable database or remote schema
 *  are valid and only wait for it.
 *  Pure. Not here: why decisions are left out (left-out.ts). */
import { containerKeyOf, type MetadataObject, nearestText, referencesOf } from '@pergola/engine/metadata';
import type { Claim } from '../decide/desired.ts';
import { fieldIn } from '../kinds/field.ts';
import { endsWithLineBreak, lineBreakText } from '../kinds/line-break.ts';
import type { Reason } from '../kinds.ts';
import { printKey } from '../objects/normal-form.ts';
import { secretOfValue } from '../objects/value-name.ts';
import {
  DISTRIBUTION_UNSUPPORTED,
  type InconsistentObject,
  NOT_ENFORCED,
  PARTLY_SERVED,
} from '../ports/inconsistent-object.ts';
import type { ResourceOutcome } from '../ports/verdict.ts';

/** Returns why an object of this manager is inconsistent, from its position, its references and the code of the engine. The message has all
 *  errors of the object, and the nearest names to one that does not exist for resources that may know them. */
export function outcomeOfInconsistency(
  found: InconsistentObject,
  all: readonly InconsistentObject[],
  claim?: Claim,
): ResourceOutcome {
  const text = ({
    reason,
    path = [],
    nearest = [],
  }: Pick<InconsistentObject, 'reason' | 'path' | 'nearest'>) => {
    const near = claim?.isAtHome ? nearestText(nearest) : '';
    return `${fieldIn(claim?.cr, claim?.object, path)}: ${reason.replace(/^Inconsistent object: /, '')}${near}`;
  };
  const more = (found.more ?? []).map((error) => `; also${text(error)}`).join('');
  const message = `${printKey(found.key)}${text(found)}${whatHappened(found)}${more}${lineBreaksIn(claim)}`;
  if (found.code === NOT_ENFORCED) return { reason: 'NotEnforced', message };
  if (found.code === PARTLY_SERVED) return { reason: 'PartlyServed', message };
  if ((found.behind ?? found.code) === DISTRIBUTION_UNSUPPORTED)
    return { reason: 'DistributionUnsupported', message };
  const absent = unavailabilityBehind(found, all, claim?.object);
  if (absent) return { reason: absent, message };
  return {
    reason: MISSING.has(found.behind ?? found.code ?? '') ? 'DependencyNotReady' : 'RejectedByEngine',
    message,
  };
}

/** Returns what happened to a request to another service, where the engine says so. */
function whatHappened({ message }: InconsistentObject): string {
  return message === undefined ? '' : `: ${message.message}`;
}

/** Returns a clause for a value that ends with a line break: in a header or a password the service says something else about it. */
function lineBreaksIn(claim: Claim | undefined): string {
  const found = [...(claim?.values ?? [])].find(([, value]) => endsWithLineBreak(value));
  return found ? `; ${lineBreakText(secretOfValue(found[0]), 'ends with a line break')}` : '';
}

/** The codes of the engine for an object that needs something that does not exist. */
const MISSING: ReadonlySet<string> = new Set(['not-exists', 'not-found']);

/** Returns the reason when a source or remote schema that the object needs does not answer: then the object cannot be checked. */
function unavailabilityBehind(
  { key }: InconsistentObject,
  all: readonly InconsistentObject[],
  object: MetadataObject | undefined,
): Reason | undefined {
  const keys = [key, ...(object ? referencesOf(object) : [])];
  const homes = new Set(keys.map(containerKeyOf));
  const away = all.find(
    (other) => homes.has(other.key) && other.away === true && (!other.served || other.key === key),
  );
  return away && (away.key.startsWith('source/') ? 'SourceUnavailable' : 'RemoteUnavailable');
}

export function isUnavailability({ reason }: ResourceOutcome): boolean {
  return reason === 'SourceUnavailable' || reason === 'RemoteUnavailable';
}

/** Returns the outcome of a deletion that a dependent object prevents. `owner` is the resource of that object, if any. */
export function keptForDependent(key: string, dependent: string, owner?: string): ResourceOutcome {
  const whose = owner === undefined ? 'belongs to no resource' : `belongs to ${owner}`;
  return {
    reason: 'PruneHeld',
    message: `${printKey(key)} is kept: ${printKey(dependent)} depends on it and ${whose}; drop that first`,
  };
}
