/** Returns which namespaces may bind resources to an Engine, and which objects they may own.
 *  In: the Engine resource and the labels of namespaces. Out: a Consent (ports/consent.ts).
 *  Pure. Not here: what grants cover (grants.ts). */
import type { CustomResource } from '../kinds.ts';
import type { Consent } from '../ports/consent.ts';
import { type Grant, type Granted, isGrantFor, objectionTo } from './grants.ts';

type Labels = Readonly<Record<string, string>>;

/** Returns the labels of a namespace; undefined when there is no such namespace. */
export type LabelsOf = (namespace: string) => Labels | undefined;

type Spec = {
  readonly allowedNamespaces?: {
    readonly from: 'Same' | 'All' | 'Selector';
    readonly selector?: { readonly matchLabels: Labels };
  };
  readonly grants?: readonly Grant[];
};

/** Returns the consent of an Engine for the namespaces of its resources. `labelsOf` is absent without the right to read namespaces. */
export function consentOf(
  engine: CustomResource,
  namespaces: ReadonlySet<string>,
  labelsOf: LabelsOf | undefined,
): Consent {
  const judge = oncePerNamespace((namespace) => namespaceConsent(engine, namespace, labelsOf));
  const seen = [...namespaces].toSorted().map((namespace) => {
    const { refusal, granted } = judge(namespace);
    return [namespace, refusal ?? null, granted.grants.map(({ name }) => name)];
  });
  return {
    home: engine.metadata.namespace,
    isCertain: labelsOf !== undefined || !dependsOnLabels(engine.spec as Spec),
    fingerprint: JSON.stringify([(engine.spec as Spec).grants ?? [], seen]),
    refusalOf: (namespace) => judge(namespace).refusal,
    reservesFor: (namespace) => reservesFor(engine, judge(namespace), labelsOf),
    objectionTo: (namespace, kind, objects, held) =>
      objectionTo(judge(namespace).granted, kind, objects, held),
  };
}

function dependsOnLabels({ allowedNamespaces, grants = [] }: Spec): boolean {
  return allowedNamespaces?.from === 'Selector' || grants.some(({ namespaceSelector }) => namespaceSelector);
}

type NamespaceConsent = { readonly refusal: string | undefined; readonly granted: Granted };

function namespaceConsent(
  engine: CustomResource,
  namespace: string,
  labelsOf: LabelsOf | undefined,
): NamespaceConsent {
  const { name, namespace: home } = engine.metadata;
  const { grants = [] } = engine.spec as Spec;
  const candidate = { namespace, isHome: namespace === home, labels: labelsOf?.(namespace) };
  return {
    refusal: refusalOf(engine, namespace, labelsOf),
    granted: {
      engine: `${home}/${name}`,
      namespace,
      isHome: candidate.isHome,
      grants: grants.filter((grant) => isGrantFor(grant, candidate)),
      fields: new Set(grants.flatMap(Object.keys)),
    },
  };
}

/** The annotation of an Engine that lists namespaces, separated by commas, whose released keys are not reserved; `*` means all. */
export const RELEASE_ANNOTATION = 'pergola.dev/release-reserved';

/** True when released keys of the namespace are reserved: it may still own objects, and no administrator has released its keys. */
function reservesFor(
  { metadata, spec }: CustomResource,
  { refusal, granted: { namespace, isHome, grants } }: NamespaceConsent,
  labelsOf: LabelsOf | undefined,
): boolean {
  const released = metadata.annotations?.[RELEASE_ANNOTATION]?.split(/[\s,]+/) ?? [];
  if (released.includes(namespace) || released.includes('*')) return false;
  if (isHome) return true;
  if (!labelsOf && dependsOnLabels(spec as Spec)) return true;
  const isGone = labelsOf !== undefined && labelsOf(namespace) === undefined;
  return !isGone && refusal === undefined && grants.length > 0;
}

/** Returns why the namespace may not bind resources to the engine; undefined when it may. */
export function refusalOf(
  engine: CustomResource,
  namespace: string,
  labelsOf: LabelsOf | undefined,
): string | undefined {
  const { name, namespace: home } = engine.metadata;
  const { from, selector } = (engine.spec as Spec).allowedNamespaces ?? { from: 'Same' };
  if (namespace === home || from === 'All') return undefined;
  if (from === 'Same') {
    return (
      `Engine ${home}/${name} lets in resources of its own namespace; ` +
      `its spec.allowedNamespaces could let ${namespace} in`
    );
  }
  if (!labelsOf) {
    return `namespaces are let in by label, and the operator sees no labels; let it watch all namespaces`;
  }
  const labels = labelsOf(namespace) ?? {};
  const wanted = Object.entries(selector?.matchLabels ?? {});
  const missing = wanted
    .filter(([key, value]) => labels[key] !== value)
    .map(([key, value]) => `${key}=${value}`);
  if (missing.length === 0) return undefined;
  return `Engine ${home}/${name} lets in namespaces with labels that ${namespace} lacks: ${missing.join(', ')}`;
}

function oncePerNamespace(
  judge: (namespace: string) => NamespaceConsent,
): (namespace: string) => NamespaceConsent {
  const judged = new Map<string, NamespaceConsent>();
  return (namespace) => {
    const found = judged.get(namespace) ?? judge(namespace);
    judged.set(namespace, found);
    return found;
  };
}
