/** The tables of the databases of an engine that are not in its API, for `pergola status`.
 *  Not here: what is wrong with those that are (../status/findings.ts). */
import type { EngineAddress } from '../engine/address.ts';
import { perform } from '../engine/request.ts';
import type { EngineReading } from '../ports/engine.ts';
import { EngineProblem } from '../ports/engine-problem.ts';

/** Returns the tables and views that the engine does not serve, as `SOURCE/SCHEMA/TABLE`. A source that does not answer has none. */
export async function untrackedTables(
  address: EngineAddress,
  { metadata }: EngineReading,
): Promise<readonly string[]> {
  const found = await Promise.all(
    metadata.sources.map(async ({ name: source, tables }) => {
      const tracked = new Set(tables.map(({ table }) => `${table.schema}/${table.name}`));
      const request = { type: 'pg_get_source_tables', version: 1, args: { source } };
      const all = await perform(address, request, readTables).catch((error: unknown) => {
        if (error instanceof EngineProblem) return [];
        throw error;
      });
      return all
        .map(({ schema, name }) => `${schema}/${name}`)
        .filter((table) => !tracked.has(table))
        .map((table) => `${source}/${table}`);
    }),
  );
  return found.flat();
}

function readTables(answer: unknown): readonly { readonly schema: string; readonly name: string }[] {
  return Array.isArray(answer) ? answer : [];
}
