/** The fields that CronTrigger and ScheduledEvent share: the webhook, what it receives, and how failed calls are repeated.
 *  In: these fields of a spec. Out: the fields of the metadata, and back.
 *  Not here: when the webhook is called (cron-trigger.ts, scheduled-event.ts). */
import { type OneOffEvent, Seconds, type Static, Type } from '@pergola/engine/metadata';
import { Comment, closed, OPEN_VALUE, withDescription } from './annotate.ts';
import type { TranslateContext } from './kind.ts';
import { Retry } from './retry.ts';
import { describeTransforms, TRANSFORMS, transformsOf } from './transform.ts';
import { describeHeaders, describeValue, Headers, headersOf, readValue, urlSource } from './value-source.ts';

export const SCHEDULED_CALL = {
  webhook: urlSource('The URL that is called, for example {value: "{{JOBS_URL}}/nightly"}.'),
  payload: Type.Optional(
    withDescription(
      'Any JSON value that each call contains as `payload`. Absent: null.',
      Type.Unsafe<unknown>(OPEN_VALUE),
    ),
  ),
  headers: Type.Optional(Headers),
  retry: Type.Optional(Retry),
  toleranceSeconds: Type.Optional(
    withDescription(
      'The most seconds that a call may be late, for example because the engine was stopped. Later calls are left out. Absent: 21600.',
      Seconds,
    ),
  ),
  ...TRANSFORMS,
  comment: Type.Optional(withDescription('A note, which each call contains as `comment`.', Comment)),
};
const Call = closed(SCHEDULED_CALL);
type Call = Static<typeof Call>;

export function callOf(spec: Call, context: TranslateContext): object {
  const { payload, headers, comment } = spec;
  return {
    webhook: readValue(spec.webhook, 'spec.webhook', context),
    payload,
    headers: headersOf(headers, context),
    retry_conf: retryConfOf(spec),
    ...transformsOf(spec),
    comment,
  };
}

/** Returns the fields of a spec, the inverse of `callOf`. */
export function describeCall(call: OneOffEvent): object {
  const { webhook, payload, headers, retry_conf: conf, comment } = call;
  const { num_retries, retry_interval_seconds, timeout_seconds, tolerance_seconds } = conf ?? {};
  const retry = {
    limit: num_retries,
    intervalSeconds: retry_interval_seconds,
    timeoutSeconds: timeout_seconds,
  };
  const isRepeated = Object.values(retry).some((value) => value !== undefined);
  return {
    webhook: describeValue(webhook),
    payload,
    headers: describeHeaders(headers),
    ...(isRepeated ? { retry } : {}),
    toleranceSeconds: tolerance_seconds,
    ...describeTransforms(call),
    comment,
  };
}

function retryConfOf({ retry, toleranceSeconds }: Call): object | undefined {
  if (!retry && toleranceSeconds === undefined) return undefined;
  return {
    num_retries: retry?.limit,
    retry_interval_seconds: retry?.intervalSeconds,
    timeout_seconds: retry?.timeoutSeconds,
    tolerance_seconds: toleranceSeconds,
  };
}
