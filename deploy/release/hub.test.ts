/** Tests that a chart of a release tells Artifact Hub its kinds, its image, links and what a reader of the changelog must know, and nothing that is
 *  not known. Not here: packing the charts (artifacts.test.ts). */
import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { KINDS } from '../../operator/kinds.ts';
import { notesOf } from './artifacts.ts';
import { withHub } from './hub.ts';
import { version } from './version.ts';

const CHART = readFileSync(new URL('../../charts/pergola/Chart.yaml', import.meta.url), 'utf8');
const NOTES = `### Before you upgrade

Do these first.

- **Save** the resources
  ([order](guides/upgrading.md)): \`pergola convert\`.

### New, in short

- A [console](guides/console.md).

### Speed

- Faster.
`;

function annotations(text: string): Readonly<Record<string, unknown>> {
  const { annotations } = load(text) as { annotations: Readonly<Record<string, string>> };
  return Object.fromEntries(
    Object.entries(annotations).map(([key, value]) => [key.replace('artifacthub.io/', ''), load(value)]),
  );
}

test('a release has the kinds, the image, links and changes', () => {
  const text = withHub(CHART, {
    name: '1.2.3',
    notes: NOTES,
    repository: 'registry.example/team/pergola',
    site: 'https://docs.example/pergola',
    sources: 'https://forge.example/pergola',
  });
  const { crds, changes, images, links } = annotations(text);
  expect(crds).toHaveLength(KINDS.length);
  expect(crds).toContainEqual(
    expect.objectContaining({ kind: 'Table', version: 'v1alpha1', name: 'tables.pergola.dev' }),
  );
  expect(changes).toEqual([
    { kind: 'changed', description: 'Save the resources: pergola convert.' },
    { kind: 'added', description: 'A console.' },
  ]);
  expect(images).toEqual([{ name: 'pergola', image: 'registry.example/team/pergola:1.2.3' }]);
  expect(links).toHaveLength(2);
  const chart = load(text) as Record<string, unknown>;
  expect(chart).toMatchObject({
    home: 'https://docs.example/pergola',
    version: version(),
    type: 'application',
  });
});

test('without addresses and notes nothing is said about them', () => {
  const text = withHub(CHART, { name: '1.2.3', notes: '- Now.\n' });
  expect(Object.keys(annotations(text)).toSorted()).toEqual(['category', 'crds', 'license', 'operator']);
  expect(load(text)).not.toHaveProperty('home');
});

test('the changelog of this version has changes', () => {
  const notes = notesOf(version(), readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8'));
  const changes = annotations(withHub(CHART, { name: version(), notes }))['changes'] as readonly {
    readonly description: string;
  }[];
  expect(changes.length).toBeGreaterThan(10);
  expect(changes.filter(({ description }) => /[\][*`]/.test(description))).toEqual([]);
});
