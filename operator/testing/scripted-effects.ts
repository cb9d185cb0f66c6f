/** The changes of schemas for a scripted engine: the schema of a role has the columns of its select permissions, and a column that is gone
 *  breaks clients. So does a REST endpoint that is gone. Not here: the comparison of the real engine (engine/schema, engine/admin). */
import { type Edit, editObjects, type MetadataObject, objectsOf } from '@pergola/engine/metadata';
import type { SchemaEffects } from '../ports/schema-effects.ts';
import type { ScriptedEngine } from './scripted-engine.ts';

type Objects = ReadonlyMap<string, MetadataObject>;

/** Makes the engine report what edits change. */
export function reportEffects(engine: ScriptedEngine): void {
  engine.effectsBetween = (before, after) => effectsBetween(objectsOf(before), objectsOf(after));
  engine.schemaEffects = async (edits: readonly Edit[]) => {
    const made = editObjects(engine.metadata, edits);
    const inconsistent = engine.judge(objectsOf(made));
    return { ...engine.effectsBetween(engine.metadata, made), inconsistent };
  };
}

function effectsBetween(before: Objects, after: Objects): SchemaEffects {
  const schemas = [...columnsByRole(before)].flatMap(([role, columns]) => {
    const next = columnsByRole(after).get(role);
    const gone = next ? [...columns].filter((column) => !next.has(column)) : [...columns];
    const changes = next
      ? gone.map((column) => breaking('FIELD_REMOVED', `Field ${column} was removed.`))
      : [breaking('ROLE_REMOVED', `the role ${role} has no permission any more`)];
    return gone.length === 0 ? [] : [{ role, breaking: changes.length, dangerous: 0, safe: 0, changes }];
  });
  return { schemas, requests: goneEndpoints(before, after), isComplete: true };
}

function goneEndpoints(before: Objects, after: Objects): NonNullable<SchemaEffects['requests']> {
  const gone = [...before.keys()].filter((key) => key.startsWith('rest_endpoint/') && !after.has(key));
  const revoked = {
    role: null,
    operation: 'request',
    change: 'revoked',
    verdict: 'narrower',
    parts: [],
  } as const;
  return gone.map((key) => ({ key, on: key.split('/').at(-1)!, ...revoked }));
}

const breaking = (type: string, description: string) => ({ severity: 'breaking', type, description });

function columnsByRole(objects: Objects): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const { kind, parent, definition } of objects.values()) {
    if (kind !== 'select_permission' || !objects.has(parent!)) continue;
    const { role, permission } = definition as { role: string; permission: { columns: readonly string[] } };
    const columns = found.get(role) ?? new Set<string>();
    for (const column of permission.columns) columns.add(`${parent!.split('/').at(-1)}.${column}`);
    found.set(role, columns);
  }
  return found;
}
