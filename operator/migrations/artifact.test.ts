/** Tests of a Migration whose artifact cannot be read: its status says what is applied, whatever the wording of its messages. */
import { expect, test } from 'vitest';
import type { CustomResource } from '../kinds.ts';
import { appliedText } from './applied.ts';
import { appliedFromArtifact } from './artifact.ts';

const REPOSITORY = 'registry.test/acme/migrations';

function migration(status: object): CustomResource {
  const ready = { type: 'Ready', status: 'True', reason: 'Applied', message: 'Anything.' };
  return {
    apiVersion: 'pergola.dev/v1alpha1',
    kind: 'Migration',
    metadata: { name: 'm', namespace: 'default', uid: 'u', generation: 2 },
    spec: { ociArtifact: { repository: REPOSITORY, tag: 'v1' } },
    status: {
      observedGeneration: 2,
      observedArtifact: { repository: REPOSITORY, digest: 'sha256:1' },
      conditions: [{ ...ready, observedGeneration: 2, lastTransitionTime: '2026-01-01T00:00:00Z' }],
      ...status,
    },
  } as unknown as CustomResource;
}

const PENDING = { reason: 'DependencyNotReady', message: 'downloading', isPending: true } as const;
const AWAY = { reason: 'DependencyNotReady', message: 'registry.test answers 503' } as const;

test('what is applied comes from a field of the status, not from its message', () => {
  const cr = migration({ migration: { version: '11', artifactProblem: 'registry.test answers 500' } });
  const pending = appliedFromArtifact(cr, PENDING, undefined)!;
  expect(appliedText(pending)).toBe(
    'the newest version is 11; the artifact was not read again: registry.test answers 500',
  );
  const away = appliedFromArtifact(cr, AWAY, undefined)!;
  expect(appliedText(away)).toBe(
    'the newest version is 11; the artifact was not read again: registry.test answers 503',
  );
  const back = appliedFromArtifact(cr, { digest: 'sha256:1', files: [] }, away)!;
  expect(appliedText(back)).toBe('the newest version is 11');
});

test('a status of an older operator is applied as well, without a version', () => {
  expect(appliedText(appliedFromArtifact(migration({}), PENDING, undefined)!)).toBe(
    'all migrations are applied',
  );
  expect(
    appliedText(appliedFromArtifact(migration({ migration: { version: '' } }), PENDING, undefined)!),
  ).toBe('there is no migration');
});

test.each([
  ['another generation', { observedGeneration: 1, conditions: [] }],
  ['no known artifact', { observedArtifact: undefined }],
  ['another repository', { observedArtifact: { repository: 'registry.test/other', digest: 'sha256:1' } }],
])('a status with %s says nothing', (_, status) => {
  expect(appliedFromArtifact(migration(status), AWAY, undefined)).toBeUndefined();
});
