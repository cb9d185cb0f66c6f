/** What the reconcile core needs of its surroundings: an engine, a source of resources, a sink for statuses, a clock. Folder mode and Kubernetes
 *  implement them; tests script them.
 *  Not here: each port, in a file of its own beside this one; the core (pass/reconcile.ts). */

import type { Clock } from './clock.ts';
import type { EnginePort } from './engine.ts';
import type { CrSource } from './resources.ts';
import type { StatusSink } from './statuses.ts';

/** The surroundings of a pass. */
export type Ports = {
  readonly engine: EnginePort;
  readonly source: CrSource;
  readonly sink: StatusSink;
  readonly clock: Clock;
};
