/** An engine that cannot be asked, because there are no credentials for it: every request fails with the same problem.
 *  Not here: the engine over HTTP (client.ts). */
import type { EnginePort } from '../ports/engine.ts';
import type { EngineProblem } from '../ports/engine-problem.ts';

export function refusingEngine(problem: EngineProblem): EnginePort {
  const refuse = () => Promise.reject(problem);
  return {
    read: refuse,
    admit: refuse,
    schemaEffects: refuse,
    write: refuse,
    inconsistent: refuse,
    version: refuse,
    state: refuse,
    reload: refuse,
    setValues: refuse,
    planValues: refuse,
    removeValues: refuse,
    migrate: refuse,
    deliveries: refuse,
    runTest: refuse,
    // Its replicas are not known.
    laggingReplicas: async () => undefined,
  };
}
