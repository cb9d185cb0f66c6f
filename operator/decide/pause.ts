/** Pauses of a resource: `spec.suspend`, and two annotations: `pause-until`, which ends by itself, and `plan`, which writes the plan to the
 *  status instead of applying it. A paused resource keeps its objects.
 *  Pure: the time is an argument. Not here: the text of a plan (status/plan-text.ts). */
import type { CustomResource } from '../kinds.ts';
import type { ResourceOutcome } from '../ports/verdict.ts';

/** The annotation that pauses a resource until a time in RFC 3339 format. */
export const PAUSE_ANNOTATION = 'pergola.dev/pause-until';
/** The annotation that, when `"true"`, writes the plan of a resource to `status.plan` instead of applying it. */
export const PLAN_ANNOTATION = 'pergola.dev/plan';

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

/** Returns why the resource is paused at `time`; undefined when it is not. */
export function pauseOf(cr: CustomResource, time: Date): ResourceOutcome | undefined {
  const until = pausedUntil(cr);
  if (until !== undefined && Number.isNaN(until)) {
    const value = cr.metadata.annotations?.[PAUSE_ANNOTATION];
    const message = `the annotation ${PAUSE_ANNOTATION} is a time like 2030-01-31T18:00:00Z, not ${value}`;
    return { reason: 'InvalidSpec', message };
  }
  if (cr.spec['suspend'] === true) return paused('spec.suspend is true: its objects are left as they are');
  if (wantsPlan(cr)) {
    return paused(
      `the annotation ${PLAN_ANNOTATION} is set: nothing is written, status.plan says what would be`,
    );
  }
  if (until === undefined || until <= time.getTime()) return undefined;
  return paused(`paused until ${new Date(until).toISOString()}: its objects are left as they are`);
}

/** Returns when the first pause ends by itself, in milliseconds; undefined when none does. */
export function nextResumption(resources: readonly CustomResource[], time: Date): number | undefined {
  const ends = resources.map((cr) => pausedUntil(cr) ?? 0).filter((end) => end > time.getTime());
  return ends.length === 0 ? undefined : ends.reduce((first, end) => Math.min(first, end));
}

export function wantsPlan(cr: CustomResource): boolean {
  return cr.metadata.annotations?.[PLAN_ANNOTATION] === 'true';
}

/** Returns the resource without its pauses. */
export function withoutPause(cr: CustomResource): CustomResource {
  const {
    [PAUSE_ANNOTATION]: _until,
    [PLAN_ANNOTATION]: _plan,
    ...annotations
  } = cr.metadata.annotations ?? {};
  const { suspend: _suspend, ...spec } = cr.spec;
  return { ...cr, metadata: { ...cr.metadata, annotations }, spec };
}

/** Returns the resources without the pauses of those whose plan is requested; undefined when no plan is requested. */
export function withoutPlanPauses(
  resources: readonly CustomResource[],
): readonly CustomResource[] | undefined {
  if (!resources.some(wantsPlan)) return undefined;
  return resources.map((cr) => (wantsPlan(cr) ? withoutPause(cr) : cr));
}

/** Returns the time of the annotation in milliseconds; NaN when it is invalid. */
function pausedUntil({ metadata }: CustomResource): number | undefined {
  const text = metadata.annotations?.[PAUSE_ANNOTATION];
  if (text === undefined) return undefined;
  return RFC3339.test(text) ? Date.parse(text) : Number.NaN;
}

function paused(message: string): ResourceOutcome {
  return { reason: 'Paused', message };
}
