/** Tests which deleted resources count as deleted with their definition, by the state of the definition. */
import { expect, test } from 'vitest';
import type { CustomResource } from '../kinds.ts';
import { table } from '../testing/resources.ts';
import { Definitions } from './definitions.ts';
import { ManualTimers } from './testing/manual-timers.ts';
import { ApiProblem, type ApiRequest, type Transport } from './transport.ts';

const CREATED = '2026-01-01T00:00:10Z';
const [EARLIER, LATER] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:20Z'];
const T = table('t');
const RESOURCE = { ...T, metadata: { ...T.metadata, creationTimestamp: CREATED } } as CustomResource;
const NAME = 'Table default/t';

/** Each answer is the metadata of the definition or the status of an error; the last one is repeated. */
function definitionsThat(...answers: readonly (object | number)[]) {
  const requests: ApiRequest[] = [];
  const send = async (request: ApiRequest) => {
    const answer = answers[Math.min(requests.length, answers.length - 1)];
    requests.push(request);
    if (typeof answer === 'number') throw new ApiProblem(answer, 'refused');
    return { metadata: answer };
  };
  const timers = new ManualTimers();
  const transport = { send } as unknown as Transport;
  const { signal } = new AbortController();
  const problems: Error[] = [];
  const onProblem = (problem: Error) => void problems.push(problem);
  return {
    definitions: new Definitions({ transport, timers, signal, onProblem }),
    timers,
    requests,
    problems,
  };
}

test.each([
  ['exists', { creationTimestamp: EARLIER }, []],
  ['is as old as the resource', { creationTimestamp: CREATED }, []],
  ['is being deleted', { creationTimestamp: EARLIER, deletionTimestamp: LATER }, [NAME]],
  ['is missing', 404, [NAME]],
  ['was installed again', { creationTimestamp: LATER }, [NAME]],
  ['may not be read', 403, []],
])('a resource whose definition %s', async (_, answer, lost) => {
  const { definitions } = definitionsThat(answer);
  definitions.noteDeleted(RESOURCE);
  expect([...(await definitions.lostAmong(new Map([[NAME, undefined]])))!]).toEqual(lost);
});

test.each([
  ['exists', { creationTimestamp: EARLIER }, []],
  ['is as old as the resource', { creationTimestamp: CREATED }, []],
  ['was installed again', { creationTimestamp: LATER }, [NAME]],
  ['may not be read', 403, []],
])('a resource that was deleted while no operator ran, whose definition %s', async (_, answer, lost) => {
  const { definitions } = definitionsThat(answer);
  for (let pass = 0; pass < 2; pass++) {
    expect([...(await definitions.lostAmong(new Map([[NAME, CREATED]])))!]).toEqual(lost);
  }
  definitions.noteCreated(RESOURCE);
  definitions.noteDeleted({
    ...RESOURCE,
    metadata: { ...RESOURCE.metadata, creationTimestamp: '2026-01-01T00:00:30Z' },
  });
  expect([...(await definitions.lostAmong(new Map([[NAME, CREATED]])))!]).toEqual([]);
});

test('a pass that asks about a resource from before it was created again does not make its later deletion a loss', async () => {
  const { definitions } = definitionsThat({ creationTimestamp: LATER });
  const again = { ...RESOURCE, metadata: { ...RESOURCE.metadata, creationTimestamp: LATER } };
  definitions.noteCreated(again);
  expect(await definitions.lostAmong(new Map([[NAME, CREATED]]))).toEqual(new Set([NAME]));
  definitions.noteDeleted(again);
  expect(await definitions.lostAmong(new Map([[NAME, CREATED]]))).toEqual(new Set());
});

test('after a restart, the state of the definition alone decides where the ledger has no time', async () => {
  for (const [answer, lost] of [
    [{ creationTimestamp: LATER }, []],
    [{ deletionTimestamp: LATER }, [NAME]],
  ] as const) {
    const { definitions } = definitionsThat(answer);
    expect([...(await definitions.lostAmong(new Map([[NAME, undefined]])))!]).toEqual(lost);
  }
});

test('a lost resource is lost until it exists again', async () => {
  const { definitions, requests } = definitionsThat(404, { creationTimestamp: LATER });
  definitions.noteDeleted(RESOURCE);
  await definitions.lostAmong(new Map([[NAME, undefined]]));
  expect(await definitions.lostAmong(new Map([[NAME, undefined]]))).toEqual(new Set([NAME]));
  definitions.noteCreated(RESOURCE);
  expect(await definitions.lostAmong(new Map([[NAME, undefined]]))).toEqual(new Set());
  expect(requests.map(({ path }) => path)).toEqual(
    Array.from(
      { length: 3 },
      () => '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/tables.pergola.dev',
    ),
  );
});

test('resources that were cached when their definition was found missing are lost until they are listed again', async () => {
  const { definitions } = definitionsThat({ creationTimestamp: LATER });
  definitions.notePresence([RESOURCE], true);
  expect(await definitions.lostAmong(new Map([[NAME, undefined]]))).toEqual(new Set([NAME]));
  definitions.notePresence([RESOURCE], false);
  expect(await definitions.lostAmong(new Map([[NAME, undefined]]))).toEqual(new Set());
});

test('deletions that arrive together are one request', async () => {
  const { definitions, requests, timers } = definitionsThat(404);
  for (let i = 0; i < 1000; i++) definitions.noteDeleted(table(`t${i}`));
  await timers.pass(1000);
  expect(requests).toHaveLength(1);
});

test('while the API server does not answer, the answer is unknown', async () => {
  const { definitions, problems, timers } = definitionsThat(500);
  const asked = definitions.lostAmong(new Map([[NAME, undefined]]));
  for (let i = 0; i < 5; i++) await timers.pass(1000);
  expect(await asked).toBeUndefined();
  expect(problems).toHaveLength(3);
});
