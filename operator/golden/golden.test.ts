/** Golden cases of a pass, one folder each under golden/: crs.yaml (resources; `metadata` may have the fields that an API server sets),
 *  live.json (the document), ledger.json (key → {cr, hash}: "live" is the hash of the live object), broken.json (key → {code,
 *  reason} that the engine reports), options.json; all but crs.yaml are optional. Out: plan.json (each decision, and what is written)
 *  and statuses.yaml. UPDATE_GOLDEN=1 (`make golden`) rewrites them; review the diff. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Metadata, objectsOf, parseMetadata } from '@pergola/engine/metadata';
import { dump, loadAll } from 'js-yaml';
import { expect, test } from 'vitest';
import { type CustomResource, crName } from '../kinds.ts';
import type { LedgerEntry } from '../objects/ledger.ts';
import { hashOf, normalised, printKey } from '../objects/normal-form.ts';
import { plan } from '../pass/plan.ts';
import { reconcile } from '../pass/reconcile.ts';
import type { EngineWrite } from '../ports/engine.ts';
import type { ReconcileOptions } from '../ports/options.ts';
import type { Report } from '../status/report.ts';
import { OPTIONS, resource, snapshotOf } from '../testing/resources.ts';
import { inconsistent, ScriptedEngine, withDefaultSource } from '../testing/scripted-engine.ts';
import { ScriptedPorts } from '../testing/scripted-ports.ts';

const FOLDER = import.meta.dirname;
const cases = readdirSync(FOLDER).filter((name) => existsSync(join(FOLDER, name, 'crs.yaml')));

test.each(cases)('a pass has the expected plan and statuses: %s', async (name) => {
  const ports = portsOf(name);
  const options = { ...OPTIONS, ...input<Partial<ReconcileOptions>>(name, 'options.json', {}) };
  const made = await plan(ports.engine, await ports.source.snapshot(), options);
  const report = await reconcile(ports, options);
  compare(name, 'plan.json', `${JSON.stringify(planOf(made, ports.engine), null, 2)}\n`);
  compare(name, 'statuses.yaml', dump(statusesOf(report), { lineWidth: 120, noRefs: true }));
  const again = await reconcile(ports, options);
  expect([again.wasWritten, ports.published]).toEqual([false, []]);
});

function compare(name: string, file: string, actual: string): void {
  const path = join(FOLDER, name, file);
  if (process.env['UPDATE_GOLDEN']) writeFileSync(path, actual);
  expect(actual).toBe(readFileSync(path, 'utf8'));
}

function input<T>(name: string, file: string, absent: T): T {
  const path = join(FOLDER, name, file);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as T) : absent;
}

function portsOf(name: string): ScriptedPorts {
  const live = parseMetadata(input<unknown>(name, 'live.json', withDefaultSource));
  const engine = new ScriptedEngine(live);
  engine.operatorState = { manager: 'test', objects: ledgerOf(name, live) };
  const broken = input<Record<string, { code: string; reason: string }>>(name, 'broken.json', {});
  engine.judge = (objects) =>
    Object.entries(broken)
      .filter(([key]) => objects.has(key))
      .map(([key, { code, reason }]) => inconsistent(key, code, reason));
  const ports = new ScriptedPorts(engine);
  ports.given = snapshotOf(resourcesOf(name));
  return ports;
}

function resourcesOf(name: string): readonly CustomResource[] {
  const documents = loadAll(
    readFileSync(join(FOLDER, name, 'crs.yaml'), 'utf8'),
  ) as readonly CustomResource[];
  return documents
    .filter((document) => document !== null)
    .map(({ kind, metadata, spec }) => resource(kind, metadata.name, spec, metadata));
}

/** Completes the short entries of ledger.json. */
function ledgerOf(name: string, live: Metadata): Record<string, LedgerEntry> {
  const objects = objectsOf(live);
  const given = input<Record<string, Partial<LedgerEntry> & { cr: string }>>(name, 'ledger.json', {});
  return Object.fromEntries(
    Object.entries(given).map(([key, entry]) => {
      const found = objects.get(key);
      const hash = entry.hash === 'live' && found ? hashOf(normalised(found)) : String(entry.hash);
      const complete = { manager: 'test', uid: entry.cr, generation: 1, deletionPolicy: 'Delete' as const };
      return [key, { ...complete, ...entry, hash }];
    }),
  );
}

/** False for a write of notes alone, such as the manifests of resources. */
function isOfObjects({ edits, ledger }: EngineWrite): boolean {
  return edits.length > 0 || Object.keys(ledger.objects).length > 0;
}

function planOf(made: Awaited<ReturnType<typeof plan>>, engine: ScriptedEngine): unknown {
  const excluded = new Set(made.settled.excluded.keys());
  return {
    decisions: Object.fromEntries(
      made.decisions.map(({ key, action }) => [key, excluded.has(key) ? `${action}, left out` : action]),
    ),
    pruneHold: made.pruneHold ?? null,
    writes: engine.writes.filter(isOfObjects).length,
    document: engine.writes[0]?.edits.length ? engine.metadata : null,
    owners: Object.fromEntries(
      Object.entries(engine.ledger.objects).map(([key, { cr, generation }]) => [
        printKey(key),
        `${cr} @${generation}`,
      ]),
    ),
  };
}

function statusesOf({ resources, statuses }: Report): unknown {
  return Object.fromEntries(
    resources.map((cr) => [
      crName(cr),
      statuses
        .get(cr.metadata.uid)!
        .conditions.map(({ type, status, reason, message, observedGeneration }) => ({
          [type]: `${status} ${reason} @${observedGeneration}`,
          message,
        })),
    ]),
  );
}
