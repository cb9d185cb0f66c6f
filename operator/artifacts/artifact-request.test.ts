/** Tests the messages about what an artifact needs and lacks. */
import { expect, test } from 'vitest';
import type { CustomResource } from '../kinds.ts';
import type { ReferenceLookup } from '../ports/resources.ts';
import { artifactRequestOf } from './artifact-request.ts';

const REFERENCES: ReferenceLookup = {
  secret: () => undefined,
  configMap: () => undefined,
  secretKeys: (_, name) => (name === 'pull' ? ['tokn', 'config.json'] : undefined),
  configMapKeys: (_, name) => (name === 'trust' ? ['ca.pem'] : undefined),
};

function said(ociArtifact: object, references = REFERENCES): unknown {
  const cr = { kind: 'Migration', metadata: { name: 'm', namespace: 'api' }, spec: { ociArtifact } };
  return artifactRequestOf(cr as unknown as CustomResource, references);
}

const AT = { repository: 'registry.example.org/migrations', tag: 'v1' };

test('a Secret or ConfigMap without the key is reported with the keys that it has, and with no value', () => {
  expect(said({ ...AT, secretRef: { name: 'pull' } })).toEqual({
    reason: 'SecretNotFound',
    message:
      'spec.ociArtifact.secretRef: the Secret api/pull has no key .dockerconfigjson; its keys are config.json, tokn',
  });
  expect(said({ ...AT, ca: { secretKeyRef: { name: 'pull', key: 'ca.crt' } } })).toEqual({
    reason: 'SecretNotFound',
    message: 'spec.ociArtifact.ca: the Secret api/pull has no key ca.crt; its keys are config.json, tokn',
  });
  expect(said({ ...AT, ca: { configMapKeyRef: { name: 'trust', key: 'ca.crt' } } })).toEqual({
    reason: 'DependencyNotReady',
    message: 'spec.ociArtifact.ca: the ConfigMap api/trust has no key ca.crt; its keys are ca.pem',
  });
});

test('a Secret that does not exist is reported as such', () => {
  expect(said({ ...AT, secretRef: { name: 'none' } })).toMatchObject({
    message: 'spec.ociArtifact.secretRef: there is no Secret api/none, or the operator may not read it',
  });
});
