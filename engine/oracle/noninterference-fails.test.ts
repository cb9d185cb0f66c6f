/** The test of non-interference notices what it is there for: with a part of the protection taken away it fails. */
import { afterEach, expect, inject, test, vi } from 'vitest';
import type { Difference } from './testing/interference.ts';

const MOST_WORLDS = 8;
const MOST_MS = 300_000;

afterEach(() => {
  vi.doUnmock('../resolve/row-barrier.ts');
  vi.doUnmock('./testing/metadata.ts');
  vi.resetModules();
});

/** The first difference, as the modules are now. */
async function found(): Promise<Difference | undefined> {
  const { interference } = await import('./testing/interference.ts');
  for await (const { world, differences } of interference(inject('postgresUrl'), { seed: 1 })) {
    if (differences.length > 0 || world + 1 === MOST_WORLDS) return differences[0];
  }
  return undefined;
}

test(
  'without the barrier, an error tells of a hidden row',
  async () => {
    vi.doMock('../resolve/row-barrier.ts', async (original) => {
      const { and, TRUE } = await import('../resolve/predicate.ts');
      const split = (where: unknown) => ({ safe: where, unsafe: TRUE });
      return { ...(await original<object>()), filtered: and, filteredWhole: and, split };
    });
    const difference = await found();
    expect(difference?.answers[1]).toContain('"error"');
    expect(difference?.changes.length).toBeGreaterThan(0);
  },
  MOST_MS,
);

test(
  'without filters, rows tell of themselves',
  async () => {
    vi.doMock('./testing/metadata.ts', async (original) => {
      const real = await original<typeof import('./testing/metadata.ts')>();
      type Permission = { permission: { filter: unknown } };
      const metadataSource = (...args: Parameters<typeof real.metadataSource>) => {
        const source = real.metadataSource(...args);
        for (const table of source['tables'] as { select_permissions?: Permission[] }[]) {
          for (const { permission } of table.select_permissions ?? []) permission.filter = {};
        }
        return source;
      };
      return { ...real, metadataSource };
    });
    expect(await found()).toBeDefined();
  },
  MOST_MS,
);
