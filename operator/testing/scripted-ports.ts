/** Ports around a scripted engine: resources that the test sets, published statuses, and a clock that the test sets. */
import { setImmediate } from 'node:timers/promises';
import type { CrStatus, CustomResource } from '../kinds.ts';
import type { Ports } from '../ports/ports.ts';
import type { CrSnapshot } from '../ports/resources.ts';
import type { StatusChange } from '../ports/statuses.ts';
import { snapshotOf } from './resources.ts';
import { ScriptedEngine } from './scripted-engine.ts';

export class ScriptedPorts implements Ports {
  readonly engine: ScriptedEngine;
  given: CrSnapshot = snapshotOf([]);
  time = new Date('2025-06-01T12:00:00Z');
  readonly slept: number[] = [];
  /** The statuses that the last pass published. */
  published: readonly StatusChange[] = [];
  readonly #statuses = new Map<string, CrStatus>();

  constructor(engine = new ScriptedEngine()) {
    this.engine = engine;
  }

  set resources(resources: readonly CustomResource[]) {
    this.given = snapshotOf(resources);
  }

  readonly source = {
    snapshot: async (): Promise<CrSnapshot> => ({
      ...this.given,
      at: this.time,
      resources: this.given.resources.map((cr) => {
        const status = this.#statuses.get(cr.metadata.uid);
        return status ? { ...cr, status } : cr;
      }),
    }),
  };

  readonly sink = {
    publish: async (changes: readonly StatusChange[]): Promise<number> => {
      this.published = changes;
      for (const { cr, status } of changes) this.#statuses.set(cr.metadata.uid, status);
      return 0;
    },
  };

  readonly clock = {
    now: () => this.time,
    sleep: async (ms: number) => {
      if (ms === 0) return void (await setImmediate());
      this.slept.push(ms);
    },
    random: () => 0.5,
  };

  /** Returns status and reason of the Ready condition, such as `True Applied`. */
  readiness(cr: CustomResource): string {
    const ready = this.#statuses.get(cr.metadata.uid)?.conditions.find(({ type }) => type === 'Ready');
    return ready ? `${ready.status} ${ready.reason}` : 'none';
  }

  message(cr: CustomResource): string {
    return (
      this.#statuses.get(cr.metadata.uid)?.conditions.find(({ type }) => type === 'Ready')?.message ?? ''
    );
  }

  status(cr: CustomResource): CrStatus | undefined {
    return this.#statuses.get(cr.metadata.uid);
  }
}
