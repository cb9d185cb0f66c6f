/** Returns the address of a resource's page in the console of the engine, for its conditions and Events: the object where the engine has it, else the
 *  resource among those that are not served; a test among the tests, a delivery in its log.
 *  Pure. Not here: the message (conditions.ts, sentence.ts), the pages (console/). */
import { type Condition, type CustomResource, crName, kindOf, purposeOf, type Reason } from '../kinds.ts';

/** The most characters of a link. A message without it says more than one that is cut for it. */
const MOST_LINK_CHARACTERS = 400;

/** The reasons that are about who owns an object, which the page Ownership shows. */
const OF_OWNERSHIP: ReadonlySet<Reason> = new Set([
  'Conflict',
  'AdoptionRequired',
  'AnotherOperator',
  'ChangeHeldBack',
  'Deleting',
  'NotPermitted',
  'Paused',
  'PruneHeld',
  'RefNotPermitted',
]);

/** The reasons of a test that has run, or waits for its run. */
const OF_TESTS: ReadonlySet<Reason> = new Set(['Applied', 'TestFailed', 'TestPassed', 'NotRun']);

/** The reasons without a page: the result follows within seconds, or the engine, which serves the console, does not answer. */
const WITHOUT_PAGE: ReadonlySet<Reason> = new Set([
  'Applying',
  'EngineUnreachable',
  'EngineRejectedCredentials',
]);

/** Returns the link of a resource with the reason; undefined when the console has no page about it. `object`: the key of its object in the
 *  engine. */
export function consoleLinkOf(
  cr: CustomResource,
  { reason, object }: { readonly reason: Reason; readonly object?: string | undefined },
  consoleUrl: string | undefined,
): string | undefined {
  if (WITHOUT_PAGE.has(reason)) return undefined;
  const find = crName(cr);
  if (purposeOf(cr) === 'test' && OF_TESTS.has(reason)) {
    return linkTo(consoleUrl, 'ownership', { view: 'tests', find });
  }
  if (object !== undefined && !OF_OWNERSHIP.has(reason)) return linkTo(consoleUrl, `model/${object}`);
  // A Migration has no object.
  return reason === 'Applied' ? undefined : linkTo(consoleUrl, 'ownership', { find });
}

/** Returns the link of the call that the resource declares: its log on the page Activity. */
export function deliveryLinkOf(
  { kind, spec }: CustomResource,
  consoleUrl: string | undefined,
): string | undefined {
  const name = kindOf(kind)?.delivery?.(spec)?.name;
  if (name === undefined) return undefined;
  return linkTo(consoleUrl, 'activity', { view: 'scheduled', source: 'declared', name });
}

/** The reasons of an Engine without a page: the operator cannot send requests to the engine, because of the Engine resource or a Secret. */
const OF_ENGINE_RESOURCE: ReadonlySet<Reason> = new Set([
  'DependencyNotReady',
  'InvalidSpec',
  'SecretNotFound',
]);

/** Returns the link of a condition of the Engine itself: what is inconsistent, what waits, is held back or refused, or what another operator writes as
 *  well. Undefined when there is nothing to look at. */
export function engineLinkOf(
  { spec }: CustomResource,
  { type, status, reason }: Pick<Condition, 'type' | 'status' | 'reason'>,
  notReady: number,
): string | undefined {
  const { consoleUrl } = spec as { readonly consoleUrl?: string };
  if (type === 'MetadataConsistent') return status === 'False' ? linkTo(consoleUrl, 'model') : undefined;
  if (!OF_OBJECTS.has(type) || WITHOUT_PAGE.has(reason) || OF_ENGINE_RESOURCE.has(reason)) return undefined;
  if (reason === 'TestFailed') return linkTo(consoleUrl, 'ownership', { view: 'tests' });
  return notReady > 0 || reason !== 'Applied' ? linkTo(consoleUrl, 'ownership') : undefined;
}

/** The types of conditions of an Engine that are about all of its objects. */
const OF_OBJECTS: ReadonlySet<Condition['type']> = new Set(['Ready', 'Reconciling', 'Stalled', 'Contested']);

/** Returns the address of a page; undefined without a console, and when it is too long. */
function linkTo(
  consoleUrl: string | undefined,
  path: string,
  given: Readonly<Record<string, string>> = {},
): string | undefined {
  if (consoleUrl === undefined) return undefined;
  const parameters = new URLSearchParams(given).toString();
  const link = `${consoleUrl.replace(/\/+$/, '')}/${path}${parameters === '' ? '' : `?${parameters}`}`;
  return link.length > MOST_LINK_CHARACTERS ? undefined : link;
}
