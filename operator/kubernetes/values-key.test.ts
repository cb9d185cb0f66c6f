/** Tests the creation of the key of named values: it is made once, and nothing replaces it. */
import { expect, test } from 'vitest';
import { systemTimers } from './timers.ts';
import { ApiProblem, type ApiRequest, type Transport } from './transport.ts';
import { createValuesKey } from './values-key.ts';

const quick = { ...systemTimers, after: (ms: number, run: () => void) => systemTimers.after(ms / 1000, run) };
type Created = {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly stringData: Readonly<Record<string, string>>;
};

/** Returns what was sent when the API server gives each answer once and then accepts. */
async function createdAfter(answers: readonly Error[], signal = AbortSignal.timeout(10_000)) {
  const left = [...answers];
  const problems: string[] = [];
  const requests: ApiRequest[] = [];
  const send = async (request: ApiRequest) => {
    requests.push(request);
    const answer = left.shift();
    if (answer) throw answer;
    return {};
  };
  const transport = { send } as unknown as Transport;
  const onProblem = (problem: Error) => problems.push(problem.message);
  const where = { namespace: 'api', name: 'pergola-values-key' };
  const isCreated = await createValuesKey({ transport, timers: quick, ...where, onProblem }, signal);
  return { isCreated, problems, requests };
}

const keyOf = ({ body }: ApiRequest) => (body as Created).stringData['values-key']!;

test('the Secret has a key of 32 random bytes', async () => {
  const first = await createdAfter([]);
  const second = await createdAfter([]);
  expect(first.isCreated).toBe(true);
  const [request] = first.requests;
  expect(request).toMatchObject({ method: 'POST', path: '/api/v1/namespaces/api/secrets' });
  expect((request!.body as Created).metadata.name).toBe('pergola-values-key');
  expect(Buffer.from(keyOf(request!), 'base64').length).toBe(32);
  expect(keyOf(request!)).not.toBe(keyOf(second.requests[0]!));
});

test('a Secret that exists is left as it is', async () => {
  const exists = new ApiProblem(409, 'secrets "pergola-values-key" already exists');
  const { isCreated, problems, requests } = await createdAfter([exists]);
  expect({ isCreated, problems, count: requests.length }).toEqual({
    isCreated: false,
    problems: [],
    count: 1,
  });
});

test('an API server that does not answer, or refuses, is asked again with the same key', async () => {
  const answers = [new Error('connect ECONNREFUSED'), new ApiProblem(403, 'forbidden')];
  const { isCreated, problems, requests } = await createdAfter(answers);
  expect(isCreated).toBe(true);
  expect(problems).toEqual(['connect ECONNREFUSED', 'forbidden']);
  expect(new Set(requests.map(keyOf)).size).toBe(1);
  expect(requests.length).toBe(3);
});

test('nothing is sent after the operator has stopped', async () => {
  const { isCreated, requests } = await createdAfter([], AbortSignal.abort());
  expect({ isCreated, count: requests.length }).toEqual({ isCreated: false, count: 0 });
});
