/** Random documents in which every name is unique, so that the text of a document says where a name occurs. Pure. */
import { type GeneratorValue, nat } from 'fast-check';
import type { Links } from '../dependencies.ts';
import { objectKey } from '../objects.ts';
import { parseMetadata } from '../parse.ts';
import type { QualifiedName } from '../schema/common.ts';
import type { Metadata } from '../schema/metadata.ts';

type Json = Readonly<Record<string, unknown>>;

export type NamedWorld = {
  readonly metadata: Metadata;
  /** The key of the object that has a name. */
  readonly keys: ReadonlyMap<string, string>;
  /** The source and table that a column, a relationship or a computed field belongs to. */
  readonly owners: ReadonlyMap<string, readonly [source: string, table: QualifiedName]>;
  readonly links: Links;
  /** Every name that occurs. */
  readonly names: readonly string[];
};

type TableOfWorld = {
  readonly source: string;
  readonly table: QualifiedName;
  readonly columns: readonly string[];
  readonly computed: string;
  /** The tables of the same source, or another one, that relationships lead to, by name. */
  readonly targets: Map<string, TableOfWorld>;
  readonly definition: Record<string, unknown>;
};

export function namedWorld(random: GeneratorValue): NamedWorld {
  const world = new World(random);
  return world.made();
}

class World {
  readonly #random: GeneratorValue;
  readonly #names: string[] = [];
  readonly #keys = new Map<string, string>();
  readonly #owners = new Map<string, readonly [string, QualifiedName]>();
  readonly #links = new Map<string, QualifiedName>();
  readonly #tables: TableOfWorld[] = [];

  constructor(random: GeneratorValue) {
    this.#random = random;
  }

  made(): NamedWorld {
    const sources = [this.#name('source'), this.#name('source')];
    for (const source of sources) this.#key(source, objectKey('source', source));
    for (const source of [...sources, ...sources]) this.#tables.push(this.#table(source));
    const remote = this.#remoteSchema();
    for (const table of this.#tables) this.#relate(table, remote.name);
    for (const table of this.#tables) this.#permit(table);
    const collection = this.#named('query_collection');
    const metadata = parseMetadata({
      version: 3,
      sources: sources.map((source) => this.#source(source)),
      remote_schemas: [{ ...remote, remote_relationships: this.#typeRelationships(remote.name) }],
      query_collections: [{ name: collection, definition: { queries: [] } }],
      allowlist: [{ collection, scope: { global: false, roles: [this.#name('role')] } }],
      rest_endpoints: [
        {
          ...{ name: 'endpoint', url: 'url', methods: ['GET'] },
          definition: { query: { collection_name: collection, query_name: this.#name('query') } },
        },
      ],
      ...this.#actions(),
      inherited_roles: [{ role_name: this.#name('role'), role_set: [this.#name('role')] }],
      api_limits: { depth_limit: { per_role: { [this.#name('role')]: 3 } } },
      graphql_schema_introspection: { disabled_for_roles: [this.#name('role')] },
    });
    const links: Links = {
      field: (source, { schema, name }, field) => this.#links.get([source, schema, name, field].join()),
      function: (source, { schema, name }) => this.#links.get([source, schema, name].join()),
    };
    return { metadata, keys: this.#keys, owners: this.#owners, links, names: this.#names };
  }

  #name(prefix: string): string {
    const name = `${prefix}${this.#names.length}`;
    this.#names.push(name);
    return name;
  }

  #key(name: string, key: string): string {
    this.#keys.set(name, key);
    return name;
  }

  /** Returns a new name of an object that is identified by it. */
  #named(kind: Parameters<typeof objectKey>[0], ...within: readonly string[]): string {
    const name = this.#name(kind.replaceAll('_', ''));
    return this.#key(name, objectKey(kind, ...within, name));
  }

  #chance(): boolean {
    return this.#random(nat, { max: 1 }) === 1;
  }

  #one<T>(items: readonly T[]): T {
    return items[this.#random(nat, { max: items.length - 1 })]!;
  }

  #some<T>(items: readonly T[]): readonly T[] {
    return items.filter(() => this.#chance());
  }

  #table(source: string): TableOfWorld {
    const table = { schema: this.#one(['public', 'other']), name: this.#name('table') };
    this.#key(table.name, objectKey('table', source, table.schema, table.name));
    const member = (name: string): string => {
      this.#owners.set(name, [source, table]);
      return name;
    };
    const columns = [member(this.#name('column')), member(this.#name('column'))];
    const computed = member(this.#named('computed_field', source, table.schema, table.name));
    const [first = '', second = ''] = columns;
    const definition = {
      table,
      configuration: {
        column_config: { [first]: { custom_name: 'c' } },
        custom_column_names: { [second]: 'd' },
      },
      computed_fields: [
        { name: computed, definition: { function: { schema: 'public', name: this.#name('sqlfunction') } } },
      ],
      event_triggers: [
        {
          ...{ name: 'trigger', webhook: 'http://x', retry_conf: {} },
          definition: { insert: { columns: '*' }, update: { columns: [first], payload: [second] } },
        },
      ],
    };
    return { source, table, columns, computed, targets: new Map(), definition };
  }

  /** Adds relationships of every form to a table. */
  #relate(from: TableOfWorld, remoteSchema: string): void {
    const { source, table } = from;
    const [own = '', other = ''] = from.columns;
    const siblings = this.#tables.filter((one) => one.source === source);
    const named = (
      kind: 'object_relationship' | 'array_relationship' | 'remote_relationship',
      to?: TableOfWorld,
    ) => {
      const name = this.#named(kind, source, table.schema, table.name);
      this.#owners.set(name, [source, table]);
      if (to) from.targets.set(name, to);
      return name;
    };
    const [behind, manual, keyed, far] = [
      ...[this.#one(siblings), this.#one(siblings), this.#one(siblings)],
      this.#one(this.#tables),
    ] as [TableOfWorld, TableOfWorld, TableOfWorld, TableOfWorld];
    const byKey = named('object_relationship', behind);
    this.#links.set([source, table.schema, table.name, byKey].join(), behind.table);
    const mapping = { column_mapping: { [own]: manual.columns[0] } };
    const to_source = {
      ...{ source: far.source, table: far.table, relationship_type: 'object' },
      field_mapping: { [this.#one([other, from.computed])]: far.columns[1] },
    };
    const to_remote_schema = {
      remote_schema: remoteSchema,
      lhs_fields: [own],
      remote_field: { user: { arguments: { id: `$${own}`, all: [`$${own}`, 'x'] } } },
    };
    Object.assign(from.definition, {
      object_relationships: [
        { name: byKey, using: { foreign_key_constraint_on: [other] } },
        {
          name: named('object_relationship', manual),
          using: { manual_configuration: { remote_table: manual.table, ...mapping } },
        },
      ],
      array_relationships: [
        {
          name: named('array_relationship', keyed),
          using: { foreign_key_constraint_on: { table: keyed.table, columns: [keyed.columns[0]] } },
        },
      ],
      remote_relationships: [
        { name: named('remote_relationship', far), definition: { to_source } },
        { name: named('remote_relationship'), definition: { to_remote_schema } },
      ],
    });
  }

  #permit({ columns, computed, definition, ...from }: TableOfWorld): void {
    const at = { columns, computed, definition, ...from };
    const role = () => this.#name('role');
    const rows = () => this.#condition(at, at, 3);
    Object.assign(definition, {
      select_permissions: [
        {
          role: role(),
          permission: { columns: this.#some(columns), computed_fields: [computed], filter: rows() },
        },
      ],
      insert_permissions: [
        { role: role(), permission: { columns, check: rows(), set: { [columns[0]!]: 1 } } },
      ],
      update_permissions: [
        {
          role: role(),
          permission: { columns: '*', filter: rows(), check: this.#chance() ? rows() : null },
        },
      ],
      delete_permissions: [{ role: role(), permission: { filter: rows() } }],
    });
  }

  /** Returns a random condition on rows of a table. `root` is the table of the permission; null when it has none. */
  #condition(at: TableOfWorld, root: TableOfWorld | null, depth: number): Json {
    const inner = () => this.#condition(at, root, depth - 1);
    const column = this.#one(at.columns);
    const leaves: readonly (() => Json)[] = [
      () => ({ [column]: { _eq: 'X-Engine-User-Id' } }),
      () => ({ [column]: 'text' }),
      () => ({ [column]: [{ $gt: 1 }, { _ceq: at.columns[0] }] }),
      ...(root ? [() => ({ [column]: { _cgt: ['$', root.columns[0]] } })] : []),
    ];
    if (depth === 0) return this.#one(leaves)();
    const [field, target] = this.#one([...at.targets]) as [string, TableOfWorld];
    const other = this.#one(this.#tables.filter(({ source }) => source === at.source));
    // A condition behind a remote relationship has no relationships, and its operands are columns of its own table.
    const isRemote = this.#keys.get(field)!.startsWith('remote');
    return this.#one<() => Json>([
      ...leaves,
      () => ({ [at.computed]: { $clte: [at.columns[1]] } }),
      () => ({ [this.#one(['_and', '$or'])]: [inner(), inner()] }),
      () => ({ [this.#one(['_not', '$not'])]: inner() }),
      () => ({ [field]: this.#condition(target, isRemote ? target : root, isRemote ? 0 : depth - 1) }),
      () => ({
        [this.#one(['_exists', '$exists'])]: {
          _table: other.table.schema === 'public' && this.#chance() ? other.table.name : other.table,
          _where: this.#condition(other, root, depth - 1),
        },
      }),
    ])();
  }

  #source(name: string): Json {
    const tables = this.#tables.filter(({ source }) => source === name);
    const table = this.#one(tables);
    const [model, inner] = [this.#named('logical_model', name), this.#named('logical_model', name)];
    const [query, other] = [this.#named('native_query', name), this.#named('native_query', name)];
    const linked = { schema: 'public', name: this.#name('function') };
    this.#key(linked.name, objectKey('function', name, 'public', linked.name));
    this.#links.set([name, 'public', linked.name].join(), table.table);
    const filter = { _exists: { _table: table.table, _where: this.#condition(table, null, 1) } };
    const stated = { schema: 'public', name: this.#name('function') };
    this.#key(stated.name, objectKey('function', name, 'public', stated.name));
    return {
      name,
      kind: 'postgres',
      configuration: { connection_info: { database_url: 'postgres://x' } },
      tables: tables.map(({ definition }) => definition),
      functions: [
        { function: linked },
        {
          function: stated,
          configuration: { response: { type: 'table', table: table.table } },
          permissions: [{ role: this.#name('role') }],
        },
      ],
      native_queries: [
        {
          ...{ root_field_name: query, code: 'select 1', returns: model },
          object_relationships: [
            { name: 'o', using: { column_mapping: { x: table.columns[0] }, remote_table: table.table } },
            { name: 'p', using: { column_mapping: { x: 'y' }, remote_native_query: other } },
          ],
        },
        { root_field_name: other, code: 'select 1', returns: inner },
      ],
      logical_models: [
        {
          name: model,
          fields: [
            { name: 'x', type: 'integer' },
            { name: 'y', type: { array: { logical_model: inner } } },
          ],
          select_permissions: [{ role: this.#name('role'), permission: { columns: '*', filter } }],
        },
        { name: inner, fields: [] },
      ],
    };
  }

  #remoteSchema(): { readonly name: string } & Json {
    const permissions = [{ role: this.#name('role'), definition: { schema: 'type Query { a: Int }' } }];
    return { name: this.#named('remote_schema'), definition: { url: 'http://x' }, permissions };
  }

  #typeRelationships(remote_schema: string): unknown {
    const far = this.#one(this.#tables);
    const to_source = {
      ...{ source: far.source, table: far.table, relationship_type: 'object' },
      field_mapping: { id: far.columns[1] },
    };
    const to_remote_schema = {
      remote_schema,
      lhs_fields: ['id'],
      remote_field: { a: { arguments: { b: '$id' } } },
    };
    const relationships = [
      { name: 'far', definition: { to_source } },
      { name: 'near', definition: { to_remote_schema } },
    ];
    return [{ type_name: 'User', relationships }];
  }

  #actions(): Json {
    const [scalar, enumeration, input, object] = [1, 2, 3, 4].map(() => this.#named('custom_type')) as [
      string,
      string,
      string,
      string,
    ];
    const far = this.#one(this.#tables);
    return {
      actions: [
        {
          name: 'action',
          definition: {
            ...{ handler: 'http://x', output_type: `[${object}!]!` },
            arguments: [{ name: 'x', type: `${input}!` }],
          },
          permissions: [{ role: this.#name('role') }],
        },
      ],
      custom_types: {
        scalars: [{ name: scalar }],
        enums: [{ name: enumeration, values: [] }],
        input_objects: [{ name: input, fields: [{ name: 'x', type: enumeration }] }],
        objects: [
          {
            ...{ name: object, fields: [{ name: 'x', type: `[${scalar}!]` }] },
            relationships: [
              {
                ...{ name: 'far', type: 'object', source: far.source, remote_table: far.table },
                field_mapping: { x: far.columns[0] },
              },
            ],
          },
        ],
      },
    };
  }
}
