/** A cluster with namespaces that share one engine: the scripted engine, and an Engine resource and a clock that the test sets. */

import { cachedEngine } from '../engine/cached-engine.ts';
import { consentOf, type LabelsOf } from '../grants/consent.ts';
import type { CustomResource } from '../kinds.ts';
import { type PreviousPass, reconcile } from '../pass/reconcile.ts';
import type { ReconcileOptions } from '../ports/options.ts';
import type { Report } from '../status/report.ts';
import { OPTIONS, resource, snapshotOf } from './resources.ts';
import { ScriptedPorts } from './scripted-ports.ts';

const EVERYTHING = {
  sources: ['*'],
  tables: ['*'],
  names: ['*'],
  roles: ['*'],
  variables: ['*'],
  webhookHosts: ['*'],
};
export const TEAM_A = { name: 'a', namespaces: ['team-a'], ...EVERYTHING };
export const TEAM_B = { name: 'b', namespaces: ['team-b'], ...EVERYTHING };

/** A cluster with one engine in namespace `api`, which admits all namespaces and has grants for two. */
export class World {
  readonly ports = new ScriptedPorts();
  grants: readonly object[] = [TEAM_A, TEAM_B];
  allowed: object = { from: 'All' };
  labelsOf: LabelsOf | undefined = () => ({});
  annotations: Readonly<Record<string, string>> = {};
  options: ReconcileOptions = OPTIONS;
  readonly #remembers: boolean;
  readonly #remembering = cachedEngine(this.ports.engine.port, { nowMs: () => 0, maxAgeMs: () => 1 });
  #past: PreviousPass = {};

  /** `remembers`: each pass has the state of the previous one, as in a cluster. */
  constructor({ remembers = false } = {}) {
    this.#remembers = remembers;
  }

  async pass(...resources: readonly CustomResource[]): Promise<Report> {
    const spec = { allowedNamespaces: this.allowed, grants: this.grants };
    const { annotations } = this;
    const engine = resource('Engine', 'main', spec, { namespace: 'api', annotations });
    const namespaces = new Set(resources.map(({ metadata }) => metadata.namespace));
    this.ports.given = snapshotOf(resources, { consent: consentOf(engine, namespaces, this.labelsOf) });
    if (!this.#remembers) return reconcile(this.ports, this.options);
    const { source, sink, clock } = this.ports;
    const ports = { engine: this.#remembering, source, sink, clock };
    this.#past = await reconcile(ports, this.options, this.#past);
    return this.#past as Report;
  }

  /** Advances the clock. */
  wait(minutes: number): void {
    this.ports.time = new Date(this.ports.time.getTime() + minutes * 60_000);
  }

  has(key: string): boolean {
    return this.ports.engine.objects.has(key);
  }
}
