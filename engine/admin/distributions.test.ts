/** Twin of distributions.ts: the texts of the tracked tables of a cluster. */
import { expect, test } from 'vitest';
import type { Distribution } from '../catalog/distribution.ts';
import { AUTHORS, resolveTables } from '../resolve/testing/small-world.ts';
import { printDistributions } from './distributions.ts';

const BY_ID: Distribution = { kind: 'distributed', column: 'id', colocation: 2 };

test('tracked tables of a cluster have a text, those of other databases have none', () => {
  const tables = [...AUTHORS.tables].map(([key, table], i) => {
    return [key, i === 0 ? { ...table, distribution: BY_ID } : table] as const;
  });
  const textsOf = (hasCitus: boolean) => {
    const { model } = resolveTables(
      { author: {}, article: {} },
      { ...AUTHORS, ...(hasCitus ? { hasCitus } : {}), tables: new Map(tables) },
    );
    return Object.values(printDistributions(model));
  };
  expect(textsOf(true)).toEqual(['distributed by id (colocation 2)', 'a local table']);
  expect(textsOf(false)).toEqual([]);
});
