/** Returns the address of a resource's page in the console of the engine, for its conditions and Events: the object where the engine has it, else the
 *  resource among those that are not served.
 *  Pure. Not here: the message (conditions.ts, sentence.ts), the pages (console/). */
import { type Condition, type CustomResource, crName, purposeOf, type Reason } from '../kinds.ts';

/** The most characters of a link. A message without it says more than one that is cut for it. */
const MOST_LINK_CHARACTERS = 400;

/** The reasons that are about who owns an object, which the page Ownership shows. */
const OF_OWNERSHIP: ReadonlySet<Reason> = new Set([
  'Conflict',
  'AdoptionRequired',
  'AnotherOperator',
  'ChangeHeldBack',
  'NotPermitted',
  'Paused',
  'PruneHeld',
  'RefNotPermitted',
]);

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
  if (consoleUrl === undefined || WITHOUT_PAGE.has(reason)) return undefined;
  const root = rootOf(consoleUrl);
  const isServed = object !== undefined && !OF_OWNERSHIP.has(reason);
  if (!isServed && (reason === 'Applied' || purposeOf(cr) === 'test')) return undefined;
  const find = new URLSearchParams({ find: crName(cr) });
  const link = isServed ? `${root}/model/${object}` : `${root}/ownership?${find}`;
  return link.length > MOST_LINK_CHARACTERS ? undefined : link;
}

/** Returns the link of a condition of the Engine itself: what is inconsistent, or what waits, is held back or refused. Undefined when there is
 *  nothing to look at. */
export function engineLinkOf(
  { spec }: CustomResource,
  { type, status, reason }: Pick<Condition, 'type' | 'status' | 'reason'>,
  notReady: number,
): string | undefined {
  const { consoleUrl } = spec as { readonly consoleUrl?: string };
  if (consoleUrl === undefined) return undefined;
  if (type === 'MetadataConsistent' && status === 'False') return `${rootOf(consoleUrl)}/model`;
  const isAboutResources = type === 'Ready' && (notReady > 0 || OF_OWNERSHIP.has(reason));
  return isAboutResources && !WITHOUT_PAGE.has(reason) ? `${rootOf(consoleUrl)}/ownership` : undefined;
}

function rootOf(consoleUrl: string): string {
  return consoleUrl.replace(/\/+$/, '');
}
