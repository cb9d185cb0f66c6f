/** The states a resource can have, as the API server returns them, with the health that Argo CD and kstatus (Flux, `kubectl wait`) must
 *  derive from them. These are the rows of the table in docs/guides/gitops.md; the operator's own code creates the statuses.
 *  Not here: running Argo CD's check (deploy/argocd/health.test.ts), the rules of kstatus (status/conditions.test.ts). */
import type { CrStatus, CustomResource, Reason } from '../kinds.ts';
import type { Verdict } from '../ports/verdict.ts';
import { statusOf } from '../status/conditions.ts';
import { table } from './resources.ts';

export type Situation = {
  readonly name: string;
  readonly cr: CustomResource;
  readonly argo: 'Healthy' | 'Progressing' | 'Degraded' | 'Suspended';
  /** Text that the message of its health contains. */
  readonly says: string;
  readonly kstatus: 'Current' | 'InProgress' | 'Failed';
};

const NOON = Date.parse('2025-06-01T12:00:00Z');
const fresh = table('author', { generation: 2 });

/** Returns the resource `before` with the status that a pass writes `seconds` after noon. */
function after(reason: Reason, message: string, more: Partial<Verdict> = {}, before = fresh, seconds = 0) {
  const verdict = { outcome: { reason, message }, wasWritten: false, failing: [], ...more };
  const context = { now: new Date(NOON + seconds * 1000), progressDeadlineSeconds: 300 };
  return { ...before, status: statusOf(before, verdict, context) };
}

const born: CrStatus = { observedGeneration: -1, conditions: [] };
const served = after('Applied', '1 object applied');
const edited = { ...served, metadata: { ...served.metadata, generation: 3 } };
const waiting = after('DependencyNotReady', 'table public.author is not there');

export const SITUATIONS: readonly Situation[] = [
  {
    name: 'is new',
    cr: { ...fresh, status: born },
    argo: 'Progressing',
    says: 'not seen',
    kstatus: 'InProgress',
  },
  {
    name: 'was changed, and the operator has not seen the change',
    cr: edited,
    argo: 'Progressing',
    says: 'not seen',
    kstatus: 'InProgress',
  },
  {
    name: 'has been Applying for more than a second',
    cr: after('Applying', 'the engine is being asked', {}, edited),
    argo: 'Progressing',
    says: 'Applying: The engine is being asked',
    kstatus: 'InProgress',
  },
  {
    name: 'is applied and verified',
    cr: served,
    argo: 'Healthy',
    says: '1 object applied',
    kstatus: 'Current',
  },
  {
    name: 'is applied, with drift that the policy leaves',
    cr: after('Applied', '1 object applied', { drift: 'limit: 1 → 2' }),
    argo: 'Healthy',
    says: 'drift is left: Limit: 1 → 2',
    kstatus: 'Current',
  },
  {
    name: 'waits for a dependency',
    cr: waiting,
    argo: 'Progressing',
    says: 'DependencyNotReady: Table public.author is not there',
    kstatus: 'InProgress',
  },
  ...(
    [
      'EngineUnreachable',
      'EngineRejectedCredentials',
      'SourceUnavailable',
      'RemoteUnavailable',
      'SecretNotFound',
      'Deleting',
    ] as const
  ).map(
    (reason): Situation => ({
      name: `waits: ${reason}`,
      cr: after(reason, 'no answer'),
      argo: 'Progressing',
      says: `${reason}: No answer`,
      kstatus: 'InProgress',
    }),
  ),
  {
    name: 'has waited for longer than the deadline',
    cr: after('DependencyNotReady', 'table public.author is not there', {}, waiting, 301),
    argo: 'Degraded',
    says: 'DependencyNotReady: Table public.author is not there',
    kstatus: 'Failed',
  },
  ...(
    [
      'InvalidSpec',
      'RejectedByEngine',
      'Conflict',
      'RefNotPermitted',
      'NotPermitted',
      'AdoptionRequired',
      'PruneHeld',
    ] as const
  ).map(
    (reason): Situation => ({
      name: `is refused: ${reason}`,
      cr: after(reason, 'spec.select.filter.title._equals: Unknown operator'),
      argo: 'Degraded',
      says: `${reason}: spec.select.filter.title._equals: Unknown operator`,
      kstatus: 'Failed',
    }),
  ),
  {
    name: 'is refused, while its last accepted version is served',
    cr: after('RejectedByEngine', 'no such column; serving generation 2', {}, edited),
    argo: 'Degraded',
    says: 'serving generation 2',
    kstatus: 'Failed',
  },
  {
    name: 'is suspended by its spec',
    cr: after('Paused', 'spec.suspend is true', {}, { ...fresh, spec: { ...fresh.spec, suspend: true } }),
    argo: 'Suspended',
    says: 'spec.suspend is set',
    kstatus: 'InProgress',
  },
  {
    name: 'is paused until a time, or only planned',
    cr: after('Paused', 'paused until 2025-06-01T18:00:00.000Z'),
    argo: 'Suspended',
    says: 'Paused: Paused until 2025-06-01T18:00:00.000Z',
    kstatus: 'InProgress',
  },
];
