/** Permissions after a relationship was renamed: the new name replaces the old one in every boolean expression.
 *  Pure and total: parts that cannot be interpreted are kept. Not here: the relationship itself (relationships.ts). */
import { isRecord } from '../../json/value.ts';
import {
  fieldOf,
  type Links,
  noLinks,
  qualifiedOf,
  type ReferenceScope,
} from '../../metadata/dependencies.ts';
import { objectsOf } from '../../metadata/objects.ts';
import type { BoolExp, QualifiedName } from '../../metadata/schema/common.ts';
import type { Metadata } from '../../metadata/schema/metadata.ts';
import type { Table } from '../../metadata/schema/table.ts';
import { isSameTable, type TableArgs } from './handler.ts';

type Rename = TableArgs & { readonly name: string; readonly new_name: string };

export function renameInPermissions(draft: Metadata, rename: Rename, links: Links = noLinks): Metadata {
  const scope: ReferenceScope = { objects: objectsOf(draft), links, source: rename.source };
  return {
    ...draft,
    sources: draft.sources.map((source) =>
      source.name === rename.source
        ? { ...source, tables: source.tables.map((table) => renameInTable(table, rename, scope)) }
        : source,
    ),
  };
}

function renameInTable(table: Table, rename: Rename, scope: ReferenceScope): Table {
  const inside = <P extends Entry>(permissions: P[] | undefined) =>
    permissions?.map((entry) => ({
      ...entry,
      permission: renameInRule(entry.permission, table, rename, scope),
    }));
  const renamed = {
    insert_permissions: inside(table.insert_permissions),
    select_permissions: inside(table.select_permissions),
    update_permissions: inside(table.update_permissions),
    delete_permissions: inside(table.delete_permissions),
  };
  return { ...table, ...Object.fromEntries(Object.entries(renamed).filter(([, list]) => list)) };
}

type Rule = { readonly filter?: BoolExp; readonly check?: BoolExp | null };
type Entry = { readonly permission: Rule };

function renameInRule(rule: Rule, table: Table, rename: Rename, scope: ReferenceScope): Rule {
  const inside = (expression: unknown) => renameIn(expression, table.table, rename, scope) as BoolExp;
  return {
    ...rule,
    ...(rule.filter ? { filter: inside(rule.filter) } : {}),
    ...(rule.check ? { check: inside(rule.check) } : {}),
  };
}

function renameIn(expression: unknown, table: QualifiedName, rename: Rename, scope: ReferenceScope): unknown {
  if (Array.isArray(expression)) return expression.map((item) => renameIn(item, table, rename, scope));
  if (!isRecord(expression)) return expression;
  return Object.fromEntries(
    Object.entries(expression).map(([key, value]) => {
      if (/^[_$](and|or|not)$/.test(key)) return [key, renameIn(value, table, rename, scope)];
      if (/^[_$]exists$/.test(key)) return [key, renameInExists(value, rename, scope)];
      const target = fieldOf(scope, table, key)?.target;
      const name = key === rename.name && isSameTable(table, rename.table) ? rename.new_name : key;
      return [name, target ? renameIn(value, target, rename, scope) : value];
    }),
  );
}

function renameInExists(exists: unknown, rename: Rename, scope: ReferenceScope): unknown {
  if (!isRecord(exists)) return exists;
  const table = qualifiedOf(exists['_table']);
  if (!table || !('_where' in exists)) return exists;
  return { ...exists, _where: renameIn(exists['_where'], table, rename, scope) };
}
