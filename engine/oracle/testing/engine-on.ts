/** The engine's rooms without its surroundings: a database and tables of a metadata document → what a request needs. */
import { introspect } from '../../catalog/introspect.ts';
import { Sources } from '../../execute/sources.ts';
import { parseMetadata } from '../../metadata/parse.ts';
import { resolve } from '../../resolve/resolve.ts';
import type { Model } from '../../resolve/types.ts';

export type EngineRooms = { readonly model: Model; readonly sources: Sources };

/** Raises when something in the metadata but an inherited role is inconsistent. The caller closes the sources. */
export async function engineOn(
  url: string,
  tables: readonly unknown[],
  inheritedRoles: readonly unknown[] = [],
): Promise<EngineRooms> {
  const sources = new Sources({ ORACLE: url });
  const configuration = { connection_info: { database_url: { from_env: 'ORACLE' } } };
  const metadata = parseMetadata({
    version: 3,
    inherited_roles: inheritedRoles,
    sources: [{ name: 'default', kind: 'postgres', configuration, tables }],
  });
  sources.publish(metadata.sources);
  const catalogs = new Map([['default', await introspect(sources.get('default'))]]);
  const { model, inconsistencies } = resolve(metadata, catalogs, { stringifyNumericTypes: false });
  // Parents that write by different rules leave an heir nothing to write by, and say so.
  const wrong = inconsistencies.filter(({ type }) => !type.startsWith('inherited'));
  if (wrong.length > 0) throw new Error(JSON.stringify(wrong, null, 1));
  return { model, sources };
}
