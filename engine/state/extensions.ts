/** Creates the extension that the databases of published sources are expected to have, once for each connection. A database in which
 *  that fails is served without it. Not here: the SQL (database/extension.ts).
 *  Reference: docs/adr/0018-pgcrypto-when-a-source-connects.md. */
import { createPgcrypto } from '../database/extension.ts';
import type { Database } from '../database/pool.ts';
import { objectKey } from '../metadata/objects.ts';
import type { Source } from '../metadata/schema/source.ts';
import type { Catalogs } from './snapshot.ts';
import type { Warning } from './warning.ts';

/** A source whose database lacks the extension. */
export type MissingExtension = {
  readonly source: string;
  readonly schema: string;
  /** The message of Postgres. */
  readonly reason: string;
};

type ExtensionsOptions = {
  readonly databaseOf: (source: Source) => Database;
  /** The schema for a source that names none. */
  readonly defaultSchemaOf: (source: Source) => string;
};

export class Extensions {
  readonly #options: ExtensionsOptions;
  /** The connections that were tried, by name and configuration of the source. */
  readonly #tried = new Set<string>();

  constructor(options: ExtensionsOptions) {
    this.#options = options;
  }

  /** Creates the extension in the databases of sources that answer and were not tried before. Returns those in which it could not be
   *  created. Never throws. */
  async create(sources: readonly Source[], catalogs: Catalogs): Promise<readonly MissingExtension[]> {
    const keys = new Map(sources.map((source) => [keyOf(source), source]));
    for (const key of this.#tried) if (!keys.has(key)) this.#tried.delete(key);
    const fresh = [...keys].filter(([key, source]) => !this.#tried.has(key) && answers(catalogs, source));
    const found = await Promise.all(fresh.map(([key, source]) => this.#createIn(key, source)));
    return found.flatMap((missing) => missing ?? []);
  }

  async #createIn(key: string, source: Source): Promise<MissingExtension | null> {
    this.#tried.add(key);
    try {
      const schema = source.configuration.extensions_schema ?? this.#options.defaultSchemaOf(source);
      const reason = await createPgcrypto(this.#options.databaseOf(source), schema);
      return reason === null ? null : { source: source.name, schema, reason };
    } catch {
      // The database stopped answering. The source is checked again when it is back.
      this.#tried.delete(key);
      return null;
    }
  }
}

/** Returns the warning for the answer of the operation that connected the source. */
export function warningOfExtension({ source, schema, reason }: MissingExtension): Warning {
  return {
    code: 'extension-missing',
    message: `${source}: pgcrypto could not be created in the schema "${schema}": ${reason}`,
    type: 'source',
    name: objectKey('source', source),
  };
}

/** CockroachDB has the functions of pgcrypto without the extension. */
function answers(catalogs: Catalogs, { name, kind }: Source): boolean {
  const catalog = catalogs.get(name);
  return kind !== 'cockroach' && catalog !== undefined && !('error' in catalog) && catalog.lost === undefined;
}

function keyOf({ name, configuration }: Source): string {
  return `${name}\n${JSON.stringify(configuration)}`;
}
