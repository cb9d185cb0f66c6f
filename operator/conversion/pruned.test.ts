/** Tests what an API server with the new definitions returns for stored resources of the old form: without the fields that it does not know.
 *  Such a resource is invalid, or it means what it meant, so an upgrade changes nothing that is served before the converted resources are
 *  applied. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord } from '@pergola/engine/metadata';
import { loadAll } from 'js-yaml';
import { expect, test } from 'vitest';
import { problemsOf } from '../kinds/validate.ts';
import { kindOf } from '../kinds.ts';
import { convertSpec } from './convert.ts';
import type { Fields } from './steps.ts';

type Shape = {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly patternProperties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: unknown;
  readonly items?: Shape;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
};

/** Returns the value as an API server prunes it. */
function pruned(shape: Shape, value: unknown): unknown {
  if (shape['x-kubernetes-preserve-unknown-fields'] === true) return value;
  if (Array.isArray(value)) return value.map((item) => pruned(shape.items ?? {}, item));
  if (!isRecord(value) || !shape.properties) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => {
      const known = shape.properties?.[key];
      return known ? [[key, pruned(known, inner)]] : [];
    }),
  );
}

/** What is lost until the converted resource is applied, as the guide says: hosts are no longer trusted without a known authority. */
const LOST: readonly string[] = ['EngineSettings settings of engine-settings.yaml'];

const RESOURCES = readdirSync(join(import.meta.dirname, 'old-form')).flatMap((file) =>
  (loadAll(readFileSync(join(import.meta.dirname, 'old-form', file), 'utf8')) as (Fields | null)[])
    .filter((document) => String(document?.['apiVersion']).startsWith('pergola.dev/'))
    .map((document) => {
      const { kind, metadata, spec } = document as { kind: string; metadata: { name: string }; spec: Fields };
      return [`${kind} ${metadata.name} of ${file}`, kind, spec] as const;
    }),
);

test.each(RESOURCES)('%s is invalid or means the same', (name, kind, spec) => {
  const row = kindOf(kind)!;
  const stored = pruned(row.spec as Shape, spec) as Fields;
  const isInvalid = problemsOf(row, stored).length > 0;
  const isSame = JSON.stringify(convertSpec(kind, stored)) === JSON.stringify(convertSpec(kind, spec));
  expect(isInvalid || isSame).toBe(!LOST.includes(name));
});
