/** Why decisions are left out of a write, as outcomes of their resources: what the engine says about edits that do not fit, and what is
 *  known without it. Pure. Not here: which edits fit (engine/admit), an inconsistency as an outcome (inconsistency.ts). */
import { nearestNames, nearestText, objectKey, parseKey, printPath } from '@pergola/engine/metadata';
import type { Decision } from '../decide/decide.ts';
import { fieldIn } from '../kinds/field.ts';
import { printKey } from '../objects/normal-form.ts';
import type { LeftOut } from '../ports/admission.ts';
import type { InconsistentObject } from '../ports/inconsistent-object.ts';
import type { ResourceOutcome } from '../ports/verdict.ts';
import { keptForDependent, outcomeOfInconsistency } from './inconsistency.ts';

type Context = {
  /** Returns the resource that claims or owns an object, as `Kind namespace/name`. */
  readonly ownerOf: (key: string) => string | undefined;
  /** The keys of all objects, those that are written included. */
  readonly keys: () => readonly string[];
};

/** Adds the outcomes of what the engine leaves out to those that are known already. A dependant names the cause of what it waits for. */
export function addLeftOut(
  leftOut: readonly LeftOut[],
  decisions: ReadonlyMap<string, Decision>,
  excluded: Map<string, ResourceOutcome>,
  context: Context,
): void {
  const left = new Map(leftOut.map((one) => [one.key, one]));
  const nearestTo = nearestKeysIn(context.keys);
  const outcomeOf = (key: string): ResourceOutcome | undefined => {
    const known = excluded.get(key);
    const one = left.get(key);
    const decision = decisions.get(key);
    if (known || !one || !decision) return known;
    const why = one.missing === undefined ? undefined : outcomeOf(one.missing);
    const outcome = outcomeOfEdit(one, decision, why, { ...context, nearestTo });
    excluded.set(key, outcome);
    return outcome;
  };
  for (const { key } of leftOut) outcomeOf(key);
}

function outcomeOfEdit(
  one: LeftOut,
  decision: Decision,
  why: ResourceOutcome | undefined,
  { ownerOf, nearestTo }: Context & { readonly nearestTo: (missing: string) => readonly string[] },
): ResourceOutcome {
  const { key, claim, action } = decision;
  switch (one.because) {
    case 'fault':
      return outcomeOfInconsistency(one.object!, [one.object!], claim);
    case 'breaks':
      return action === 'delete'
        ? keptForDependent(key, one.object!.key)
        : breaking(key, one.object!, ownerOf(one.object!.key));
    case 'missing':
      return action === 'delete'
        ? servedInstead(key, why)
        : waitsFor(key, one.missing!, why, claim?.isAtHome ? nearestTo(one.missing!) : []);
    case 'unknown':
      return waitsForTurn(key);
    default:
      return refusalOf(decision, { ...one, at: printPath(one.path ?? []).replace(/^\$\.?/, '') }, ownerOf);
  }
}

function breaking(key: string, found: InconsistentObject, owner: string | undefined): ResourceOutcome {
  const message = `${printKey(key)} would break ${printKey(found.key)}${ownedBy(owner)}: ${found.reason}`;
  return { reason: 'RejectedByEngine', message };
}

const MOST_NAMED = 5;

/** Returns the outcome of a decision that the engine refuses by itself, or together with the objects of `rivals`. `at`: the path in the
 *  definition of the object, as printed. */
export function refusalOf(
  { key, action, claim }: Decision,
  {
    reason = '',
    rivals = [],
    at = '',
  }: Pick<LeftOut, 'reason' | 'rivals'> & { readonly at?: string | undefined },
  ownerOf: (key: string) => string | undefined = () => undefined,
): ResourceOutcome {
  const field = at === '' ? fieldIn(claim?.cr, claim?.object, []) : ` at ${at}`;
  const named = rivals.slice(0, MOST_NAMED).map((rival) => `${printKey(rival)}${ownedBy(ownerOf(rival))}`);
  const beside = named.length > 0 ? `; it does not go together with ${named.join(', ')}` : '';
  return {
    reason: action === 'delete' ? 'PruneHeld' : 'RejectedByEngine',
    message: `${printKey(key)}${field}: ${reason}${beside}`,
  };
}

function ownedBy(owner: string | undefined): string {
  return owner === undefined ? '' : ` of ${owner}`;
}

/** Returns the outcome of a decision that waits for the next write. */
export function waitsForTurn(key: string): ResourceOutcome {
  return {
    reason: 'Applying',
    message: `${printKey(key)} waits for its turn: the engine refuses other changes, and it is being found out which`,
  };
}

/** Returns the outcome of a deletion that waits for the replacement of the object. */
export function servedInstead(key: string, why: ResourceOutcome | undefined): ResourceOutcome {
  const reason = why?.reason ?? 'DependencyNotReady';
  return { reason, message: `${printKey(key)} is kept until its replacement is created` };
}

/** Returns the outcome of an object that needs another one. `near` are the names that somebody may have meant by it. */
export function waitsFor(
  key: string,
  parent: string,
  why?: ResourceOutcome,
  near: readonly string[] = [],
): ResourceOutcome {
  const missing = `, which the engine does not have${remedyFor(parent)}${nearestText(near)}`;
  const because = why ? ` (${why.message})` : missing;
  return {
    reason: 'DependencyNotReady',
    message: `${printKey(key)} waits for ${printKey(parent)}${because}`,
  };
}

/** Returns what a person can do about a missing object; empty where its name says it. */
function remedyFor(key: string): string {
  const kind = parseKey(key)?.kind;
  if (kind === 'table') return '; apply a Table for it, or correct the name';
  return kind === 'source' ? '; apply a Source, or correct spec.source' : '';
}

/** The most missing objects whose nearest names are found. More follow from a cause other than a typing error. */
const MOST_MISNAMED = 20;

/** Returns a function that finds the names nearest to that of a missing object, among those of its kind in the same object, such as a
 *  source. */
function nearestKeysIn(keysOf: () => readonly string[]): (missing: string) => readonly string[] {
  const found = new Map<string, readonly string[]>();
  return (missing) => {
    const wanted = parseKey(missing);
    const name = wanted?.segments.at(-1);
    if (!wanted || name === undefined) return [];
    if (!found.has(missing)) {
      if (found.size === MOST_MISNAMED) return [];
      const around = objectKey(wanted.kind, ...wanted.segments.slice(0, -1), '');
      const siblings = keysOf().filter((key) => key !== missing && key.startsWith(around));
      found.set(
        missing,
        nearestNames(
          name,
          siblings.map((key) => parseKey(key)?.segments.at(-1) ?? ''),
        ),
      );
    }
    return found.get(missing)!;
  };
}
