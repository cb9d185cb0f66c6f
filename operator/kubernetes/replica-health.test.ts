import { expect, test } from 'vitest';
import { EngineProblem } from '../ports/engine-problem.ts';
import { inconsistent, ScriptedEngine } from '../testing/scripted-engine.ts';
import { withReplicas } from './replica-health.ts';

const LOST = inconsistent('source/default', 'postgres-error', 'connection error');

function rig() {
  const [first, second] = [new ScriptedEngine(), new ScriptedEngine()];
  const replicas = [first, second].map((engine, i) => {
    return { address: `10.0.0.${i + 1}`, engine: engine.port, close: async () => {} };
  });
  /** The endpoint routes to one of the replicas. */
  const endpoint = { engine: first };
  let lists = 0;
  for (const { engine } of replicas) {
    const { inconsistent: list } = engine;
    const counted = (version: number) => {
      lists++;
      return list(version);
    };
    Object.assign(engine, { inconsistent: counted });
  }
  const behind = {
    ...first.port,
    read: () => endpoint.engine.read(),
    state: () => endpoint.engine.state(),
    inconsistent: (version: number) => endpoint.engine.inconsistent(version),
  };
  return { first, second, endpoint, port: withReplicas(behind, async () => replicas), lists: () => lists };
}

test('when all replicas agree, the response of the endpoint is used and their lists are not read', async () => {
  const { first, second, port, lists } = rig();
  expect(await port.state()).toMatchObject(await first.state());
  expect((await port.read()).inconsistent).toEqual([]);
  first.judge = second.judge = () => [LOST];
  expect(await port.state()).toMatchObject(await first.state());
  expect((await port.read()).inconsistent).toEqual([LOST]);
  expect(lists()).toBe(0);
});

test('an object that one replica has lost is reported whichever replica the endpoint routes to', async () => {
  const { first, second, endpoint, port } = rig();
  second.judge = () => [LOST];
  const state = await port.state();
  expect(state.stateVersion).not.toBe((await first.state()).stateVersion);
  const { inconsistent: found } = await port.read();
  expect(found).toEqual([{ ...LOST, reason: expect.stringContaining('(on replica 10.0.0.2)') }]);
  expect(await port.inconsistent(1)).toEqual(found);
  endpoint.engine = second;
  await port.state();
  expect((await port.read()).inconsistent.map(({ key }) => key)).toEqual([LOST.key]);
  second.judge = () => [];
  expect(await port.state()).toMatchObject(await first.state());
  expect((await port.read()).inconsistent).toEqual([]);
});

test('a replica that does not respond is ignored', async () => {
  const { first, port, second } = rig();
  second.judge = () => {
    throw new EngineProblem('unreachable', 'it does not answer');
  };
  expect(await port.state()).toMatchObject(await first.state());
});

test('the state has the version of each replica that responds', async () => {
  const replica = (address: string, engineVersion: string | undefined) => ({
    address,
    engine: {
      state: async () => {
        if (engineVersion === undefined) throw new EngineProblem('unreachable', 'it does not answer');
        return { resourceVersion: 1, stateVersion: '', engineVersion };
      },
      inconsistent: async () => [],
    },
    close: async () => {},
  });
  const replicas = [replica('10.0.0.1', 'v1'), replica('10.0.0.2', undefined), replica('10.0.0.3', 'v2')];
  const { replicas: found } = await withReplicas(new ScriptedEngine().port, async () => replicas).state();
  expect(found).toEqual([
    { address: '10.0.0.1', engineVersion: 'v1' },
    { address: '10.0.0.3', engineVersion: 'v2' },
  ]);
});
