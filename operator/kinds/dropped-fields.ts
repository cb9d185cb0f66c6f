/** Fields that a person applied and the API server dropped, because the definition does not have them. Strict clients are refused; others,
 *  such as Argo CD without server-side apply, are not told. `kubectl apply` and its relatives record what was applied in an annotation.
 *  In: the annotation, the spec that was stored. Out: sentences. Pure.
 *  Not seen: server-side apply, which records no values but refuses unknown fields, and clients that write without the annotation.
 *  Kubernetes documentation, "Field validation" and "Declarative Management of Kubernetes Objects Using Configuration Files". */
import { isRecord, isSameJson, parseJson } from '@pergola/engine/metadata';
import { kindOf } from '../kinds.ts';
import { issuesOf, oldFormHint } from './validate.ts';

export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
/** The annotation in which the operator keeps the sentences in memory. It is never written, and ignored when a person sets it. */
export const DROPPED_FIELDS = 'pergola.dev/dropped-fields';

const MOST_FIELDS = 5;

/** Returns the annotation for a resource that was applied with unknown fields; nothing for others, for resources of the old form, which
 *  have a message of their own, and for texts that are no resource. */
export function droppedFields(resource: object, lastApplied: string): Readonly<Record<string, string>> {
  const { kind, spec } = resource as { readonly kind?: string; readonly spec?: unknown };
  const row = kindOf(kind ?? '');
  if (!row) return {};
  const applied = specIn(lastApplied);
  if (applied === undefined || isSameJson(applied, spec)) return {};
  if (oldFormHint(row, applied) !== undefined) return {};
  const unknown = issuesOf(row, applied).filter(({ isUnknownField }) => isUnknownField);
  if (unknown.length === 0) return {};
  const texts = unknown.slice(0, MOST_FIELDS).map(({ text }) => text);
  return { [DROPPED_FIELDS]: texts.join('; ') };
}

function specIn(lastApplied: string): unknown {
  try {
    const applied = parseJson(lastApplied);
    return isRecord(applied) ? applied['spec'] : undefined;
  } catch {
    return undefined;
  }
}
