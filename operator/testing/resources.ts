/** Creates custom resources for tests from short arguments. */
import { type CustomResource, GROUP_VERSION } from '../kinds.ts';
import { DEFAULT_POLICIES, type ReconcileOptions } from '../ports/options.ts';
import type { CrSnapshot } from '../ports/resources.ts';

export const MANAGER = 'test';

export const OPTIONS: ReconcileOptions = {
  manager: MANAGER,
  policies: DEFAULT_POLICIES,
  progressDeadlineSeconds: 300,
};

type Given = Partial<CustomResource['metadata']> & { readonly spec?: Readonly<Record<string, unknown>> };

export function resource(
  kind: string,
  name: string,
  spec: Readonly<Record<string, unknown>>,
  { spec: more, ...metadata }: Given = {},
): CustomResource {
  return {
    apiVersion: GROUP_VERSION,
    kind,
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${kind}-${name}`,
      generation: 1,
      creationTimestamp: '2025-01-01T00:00:00Z',
      ...metadata,
    },
    spec: { engineRef: { name: 'main' }, ...spec, ...more },
  };
}

/** Creates a Table for the table of the same name in schema public of source default. */
export function table(name: string, given?: Given): CustomResource {
  return resource('Table', name, { source: 'default', table: name }, given);
}

/** Creates a TablePermission with which `role` may select the columns of all rows. */
export function permission(
  name: string,
  on: string,
  role: string,
  columns: readonly string[] = ['id'],
  given?: Given,
): CustomResource {
  const spec = {
    source: 'default',
    table: on,
    role,
    select: { columns, filter: {} },
  };
  return resource('TablePermission', name, spec, given);
}

export function snapshotOf(
  resources: readonly CustomResource[],
  given: Partial<CrSnapshot> = {},
): CrSnapshot {
  return {
    at: new Date('2025-06-01T12:00:00Z'),
    resources,
    isComplete: true,
    references: { secret: () => undefined, configMap: () => undefined },
    ...given,
  };
}
