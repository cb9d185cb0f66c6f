/** The problems of an engine: each object that it cannot serve or that has no effect, with its owner and what to do.
 *  In: a reading of the engine. Out: findings, those that cause others first. Pure.
 *  Not here: the status of a resource (conditions.ts), which also knows its spec. */
import { nearestText } from '@pergola/engine/metadata';
import { REASONS, type Reason } from '../kinds.ts';
import { printKey } from '../objects/normal-form.ts';
import type { EngineReading } from '../ports/engine.ts';
import { outcomeOfInconsistency } from '../settle/inconsistency.ts';
import { absenceAdvice } from './absence-advice.ts';

export type Finding = {
  readonly key: string;
  readonly object: string;
  readonly reason: Reason;
  readonly message: string;
  /** The action that resolves it. */
  readonly remedy: string;
  /** The resource that the object belongs to, as `Kind namespace/name`. Absent when it belongs to none. */
  readonly resource?: string;
};

/** The order of reasons: a database that does not answer makes everything in it wait. */
const CAUSES: readonly Reason[] = ['SourceUnavailable', 'RemoteUnavailable'];

export function findingsOf({ inconsistent, ledger }: EngineReading): readonly Finding[] {
  const findings = inconsistent.map((found): Finding => {
    const { reason, message: text } = outcomeOfInconsistency(found, inconsistent, undefined);
    const resource = ledger.get(found.key)?.cr;
    const message = `${text}${nearestText(found.nearest ?? [])}`;
    const remedy = absenceAdvice(message)[0] ?? REASONS[reason].remedy;
    const object = printKey(found.key);
    return { key: found.key, object, reason, message, remedy, ...(resource ? { resource } : {}) };
  });
  const rank = ({ key, reason }: Finding) =>
    CAUSES.includes(reason) ? (/^(source|remote_schema)\/[^/]*$/.test(key) ? 0 : 1) : 2;
  return findings.toSorted((a, b) => rank(a) - rank(b));
}
