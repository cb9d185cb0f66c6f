/** Creates a hundred good resources of two namespaces with a real engine: the examples of every kind, and thirty tables with two
 *  permissions each. Runs passes over them and over resources that a test adds.
 *  Not here: the examples (deploy/examples/every-kind), hostile resources (hostile-forms.ts). */
import { objectsOf } from '@pergola/engine/metadata';
import { EVERY_KIND } from '../../testing/examples.ts';
import { cachedEngine } from '../engine/cached-engine.ts';
import { engineClient } from '../engine/client.ts';
import { folderOptions } from '../folder/flags.ts';
import { FolderSource } from '../folder/folder-source.ts';
import { type CrStatus, type CustomResource, crName } from '../kinds.ts';
import { stableJson } from '../objects/normal-form.ts';
import { type PreviousPass, reconcile } from '../pass/reconcile.ts';
import type { EnginePort } from '../ports/engine.ts';
import type { CrSnapshot } from '../ports/resources.ts';
import type { Report } from '../status/report.ts';
import { type EveryKind, startEveryKind } from './every-kind.ts';
import { permission, table } from './resources.ts';

const TABLES = 30;

export class GoodWorld {
  readonly #world: EveryKind;
  readonly #snapshot: CrSnapshot;
  readonly #folder: FolderSource;
  readonly #engine: EnginePort;
  readonly #statuses = new Map<string, CrStatus>();
  #past: PreviousPass = {};
  #hours = 0;

  private constructor(world: EveryKind, folder: FolderSource, snapshot: CrSnapshot) {
    this.#world = world;
    this.#folder = folder;
    this.#snapshot = snapshot;
    const { url, adminSecret } = world.engine;
    this.#engine = cachedEngine(engineClient({ url, adminSecret }), {
      nowMs: () => 0,
      maxAgeMs: () => 60_000,
    });
  }

  static async start(): Promise<GoodWorld> {
    const world = await startEveryKind();
    const names = Array.from({ length: TABLES }, (_, i) => `good_${i}`);
    const tables = names.map((name) => `create table ${name} (id int primary key, name text)`);
    await world.database.sql(
      `${tables.join(';')}; create table spare (id int primary key, note text);
      create view spare_view as select * from spare`,
    );
    const folder = new FolderSource(EVERY_KIND);
    const snapshot = await folder.snapshot();
    const good = { namespace: 'good' };
    const more = names.flatMap((name) => [
      table(name, good),
      permission(`${name}-reader`, name, 'reader', ['id'], good),
      permission(`${name}-auditor`, name, 'auditor', ['id', 'name'], good),
    ]);
    return new GoodWorld(world, folder, { ...snapshot, resources: [...snapshot.resources, ...more] });
  }

  get resources(): readonly CustomResource[] {
    return this.#snapshot.resources;
  }

  get engine() {
    return this.#world.engine;
  }

  get database() {
    return this.#world.database;
  }

  /** Runs a pass over the good resources and the others, an hour after the last pass. */
  async pass(others: readonly CustomResource[] = [], resources = this.resources): Promise<Report> {
    const now = new Date(Date.parse('2026-02-01T00:00:00Z') + this.#hours++ * 3_600_000);
    const report = await reconcile(
      {
        engine: this.#engine,
        source: {
          snapshot: async () => ({
            ...this.#snapshot,
            at: now,
            resources: [...others, ...resources].map((cr) => {
              const status = this.#statuses.get(cr.metadata.uid);
              return status ? { ...cr, status } : cr;
            }),
          }),
        },
        sink: {
          publish: async (changes) => {
            for (const { cr, status } of changes) this.#statuses.set(cr.metadata.uid, status);
            return 0;
          },
        },
        clock: { now: () => now, sleep: async () => {}, random: () => 0 },
      },
      { ...folderOptions(this.#folder), confirmPrune: undefined },
      this.#past,
    );
    this.#past = report;
    return report;
  }

  /** Clears the engine and the state between passes. */
  async restart(): Promise<void> {
    await this.engine.admin('clear_metadata', {});
    await this.engine.admin('set_catalog_state', { type: 'operator', state: {} });
    this.#statuses.clear();
    this.#past = {};
  }

  /** Returns the Ready condition of a resource, such as `True Applied: 2 objects applied`. */
  readiness(cr: CustomResource): string {
    const found = this.#statuses.get(cr.metadata.uid)?.conditions.find(({ type }) => type === 'Ready');
    return `${found?.status} ${found?.reason}: ${found?.message}`;
  }

  /** Returns the engine's objects of the good resources, by key, and their conditions, by name. */
  async state(): Promise<ReadonlyMap<string, string>> {
    const { metadata, ledger } = await this.#engine.read();
    const names = new Set(this.resources.map(crName));
    const objects = [...objectsOf(metadata).values()]
      .filter(({ key }) => names.has(ledger.get(key)?.cr ?? ''))
      .map(({ key, definition }) => [key, stableJson(definition)] as const);
    return new Map([...objects, ...this.resources.map((cr) => [crName(cr), this.readiness(cr)] as const)]);
  }

  close(): Promise<void> {
    return this.#world.close();
  }
}
