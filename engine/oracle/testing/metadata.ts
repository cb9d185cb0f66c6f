/** World → the tables of a metadata document. Not here: what Postgres is told (policies.ts). Spec: "Table file fields". */

import { sessionVariableOf } from './condition.ts';
import { toRule } from './condition-text.ts';
import { ENUM_TABLE, SESSION_ARGUMENT, type World } from './world.ts';
import type { Column, Permissions, Preset, Relationship, Table, TrackedFunction } from './world-types.ts';

/** A source of a document, without its name and configuration; and what features it needs. */
export function metadataSource(world: World): Readonly<Record<string, unknown>> {
  return {
    tables: [{ table: qualified(ENUM_TABLE), is_enum: true }, ...metadataTables(world)],
    functions: world.functions.map(functionOf),
    customization: { naming_convention: world.names.convention },
  };
}

function functionOf({ name, called, hasSession }: TrackedFunction): unknown {
  const session = hasSession ? { session_argument: SESSION_ARGUMENT } : {};
  const custom = called ? { custom_name: called } : {};
  return { function: qualified({ name }), configuration: { ...session, ...custom } };
}

const qualified = ({ name }: Pick<Table, 'name'>) => ({ schema: 'public', name });
const names = (columns: readonly Column[]) => columns.map(({ name }) => name);

function metadataTables({ tables, roles }: World): unknown[] {
  return tables.map((table) => {
    const rules = roles.flatMap(({ name: role, permissions }) => rulesOf(role, permissions.get(table)!));
    const ofKind = (kind: string) => rules.flatMap(([key, rule]) => (key === kind ? [rule] : []));
    const related = (kind: Relationship['kind']) =>
      table.relationships
        .filter((relationship) => relationship.kind === kind && relationship.using !== 'function')
        .map((relationship) => ({ name: relationship.name, using: using(relationship) }));
    return {
      table: qualified(table),
      configuration: configurationOf(table),
      computed_fields: computedOf(table),
      object_relationships: related('object'),
      array_relationships: related('array'),
      select_permissions: ofKind('select'),
      insert_permissions: ofKind('insert'),
      update_permissions: ofKind('update'),
      delete_permissions: ofKind('delete'),
    };
  });
}

function configurationOf({ name, called, columns, partial }: Table): unknown {
  const chosen = columns.filter((column) => column.called !== null);
  return {
    ...(called ? { custom_name: called } : {}),
    ...(partial ? { conflict_indexes: [`${name}_p`] } : {}),
    column_config: Object.fromEntries(chosen.map((column) => [column.name, { custom_name: column.called }])),
  };
}

function computedOf({ name: table, computed, relationships }: Table): unknown[] {
  const rows = relationships.filter(({ using }) => using === 'function');
  return [...computed, ...rows].map(({ name }) => ({
    name,
    definition: { function: qualified({ name: `${table}_${name}` }) },
  }));
}

/** What `inherited_roles` of a document holds. */
export function metadataRoles({ heir }: World): unknown[] {
  if (heir.parents.length === 0) return [];
  return [{ role_name: heir.name, role_set: heir.parents.map(({ name }) => name) }];
}

function using({ using: how, kind, to, mapping }: Relationship): unknown {
  const ours = names(mapping.map(([local]) => local));
  const theirs = names(mapping.map(([, remote]) => remote));
  if (how === 'manual') {
    const column_mapping = Object.fromEntries(ours.map((name, i) => [name, theirs[i]]));
    return { manual_configuration: { remote_table: qualified(to), column_mapping } };
  }
  if (how === 'our key') return { foreign_key_constraint_on: ours.length === 1 ? ours[0] : ours };
  const isShort = kind === 'array' && theirs.length === 1;
  const at = isShort ? { column: theirs[0] } : { columns: theirs };
  return { foreign_key_constraint_on: { table: qualified(to), ...at } };
}

function rulesOf(role: string, { select, insert, update, ...rest }: Permissions): [string, unknown][] {
  const rules: [string, unknown][] = [];
  const add = (kind: string, permission: unknown) => rules.push([kind, { role, permission }]);
  if (select) {
    const { columns, computed, filter, limit, allowsAggregation } = select;
    add('select', {
      columns: names(columns),
      computed_fields: names(computed),
      filter: toRule(filter),
      ...(limit === null ? {} : { limit }),
      allow_aggregations: allowsAggregation,
    });
  }
  if (insert) {
    const { columns, check, presets } = insert;
    add('insert', { columns: names(columns), check: toRule(check), set: presetRules(presets) });
  }
  if (update) {
    const { columns, filter, check, presets } = update;
    add('update', {
      columns: names(columns),
      filter: toRule(filter),
      check: check && toRule(check),
      set: presetRules(presets),
    });
  }
  if (rest.delete) add('delete', { filter: toRule(rest.delete.filter) });
  return rules;
}

function presetRules(presets: readonly Preset[]): Record<string, unknown> {
  return Object.fromEntries(
    presets.map(({ column, value, isSession }) => [
      column.name,
      isSession ? `x-engine-${sessionVariableOf(column.type, false)}` : value.json,
    ]),
  );
}
