/** Sends recorded operations to two endpoints and compares the answers; of a subscription, its first results. Mutations are sent only when wanted, because
 *  both endpoints may have one database. In: two endpoints, operations. Out: one report per operation. Throws EngineProblem when an endpoint does not answer.
 *  Not here: the file (recording.ts), the comparison of data (compare-answers.ts). */
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  parse,
  valueFromASTUntyped,
} from 'graphql';
import { isRecord, isSameJson, type JsonRecord } from '../../engine/json/value.ts';
import type { EngineAddress } from '../../operator/engine/address.ts';
import { compareData } from './compare-answers.ts';
import { type GraphqlAnswer, type GraphqlRequest, requestGraphql } from './graphql-request.ts';
import { type SubscriptionAnswer, subscribe } from './graphql-subscription.ts';
import type { RecordedOperation } from './recording.ts';
import type { OperationReport } from './report.ts';

export type ReplayOptions = {
  readonly sendsMutations: boolean;
  /** How long the results of a subscription are waited for. */
  readonly waitSeconds: number;
};

/** Sends one operation after another, so that mutations have the same order at both endpoints. */
export async function replay(
  from: EngineAddress,
  to: EngineAddress,
  operations: readonly RecordedOperation[],
  options: ReplayOptions,
): Promise<readonly OperationReport[]> {
  const reports: OperationReport[] = [];
  for (const [i, recorded] of operations.entries()) {
    const document = documentOf(recorded.query);
    const operation = document && getOperationAST(document, recorded.operationName);
    const about = {
      name: recorded.name ?? recorded.operationName ?? operation?.name?.value ?? `operation ${i + 1}`,
      role: recorded.role ?? '',
    };
    if (operation?.operation === 'mutation' && !options.sendsMutations) {
      const reason = 'mutations are sent only with --mutations';
      reports.push({ ...about, verdict: 'skipped', reason, differences: [] });
      continue;
    }
    const sent = { document, operation, variables: recorded.variables ?? {} };
    const findings =
      operation?.operation === 'subscription'
        ? await subscriptionFindings(from, to, recorded, sent, options)
        : await requestFindings(from, to, recorded, sent);
    reports.push({ ...about, ...findings });
  }
  return reports;
}

type Sent = {
  readonly document: DocumentNode | undefined;
  readonly operation: OperationDefinitionNode | null | undefined;
  readonly variables: JsonRecord;
};
type Findings = Pick<OperationReport, 'verdict' | 'reason' | 'differences'>;

function requestOf({ variables, operationName, ...recorded }: RecordedOperation): GraphqlRequest {
  return { ...recorded, variables: variables ?? undefined, operationName: operationName ?? undefined };
}

async function requestFindings(
  from: EngineAddress,
  to: EngineAddress,
  recorded: RecordedOperation,
  sent: Sent,
): Promise<Findings> {
  const request = requestOf(recorded);
  return compared(sent, await requestGraphql(from, request), await requestGraphql(to, request));
}

/** Subscribes at both endpoints at once, so that both see the same changes. */
async function subscriptionFindings(
  from: EngineAddress,
  to: EngineAddress,
  recorded: RecordedOperation,
  sent: Sent,
  { waitSeconds }: ReplayOptions,
): Promise<Findings> {
  const request = requestOf(recorded);
  const patience = { results: recorded.results ?? 1, milliseconds: waitSeconds * 1000 };
  const [a, b] = await Promise.all([from, to].map((address) => subscribe(address, request, patience)));
  return comparedResults(sent, a!, b!, waitSeconds);
}

function comparedResults(
  sent: Sent,
  a: SubscriptionAnswer,
  b: SubscriptionAnswer,
  waitSeconds: number,
): Findings {
  const [before, after] = [a, b].map(({ closeCode }) => closeCode ?? 'none');
  if (before !== after) {
    return { verdict: 'differs', differences: [`the connection was closed: ${before} and ${after}`] };
  }
  const [least, most] = [a, b].map(({ results }) => results.length).toSorted((x, y) => x - y);
  if (most === 0 && a.closeCode === undefined) {
    return { verdict: 'unknown', reason: `no result came in ${waitSeconds} s`, differences: [] };
  }
  const each = a.results
    .slice(0, least)
    .map((body, i) => compared(sent, { status: 200, body }, { status: 200, body: b.results[i]! }));
  const differences = [
    ...each.flatMap((found, i) => found.differences.map((text) => `result ${i + 1}: ${text}`)),
    ...(least === most ? [] : [`${a.results.length} and ${b.results.length} results in ${waitSeconds} s`]),
  ];
  if (differences.length > 0) return { verdict: 'differs', differences };
  return each.find(({ verdict }) => verdict === 'unknown') ?? { verdict: 'same', differences };
}

/** Returns the document; undefined for text that is not GraphQL, which both endpoints refuse. */
function documentOf(query: string): DocumentNode | undefined {
  try {
    return parse(query);
  } catch {
    return undefined;
  }
}

function compared({ document, operation, variables }: Sent, a: GraphqlAnswer, b: GraphqlAnswer): Findings {
  const errors = differentErrors(a, b);
  const fragments = (document?.definitions ?? []).filter(
    (node): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION,
  );
  const found = operation
    ? compareData(
        operation.selectionSet,
        {
          variables: { ...defaultsOf(operation), ...variables },
          fragments: new Map(fragments.map((fragment) => [fragment.name.value, fragment])),
        },
        a.body['data'] ?? null,
        b.body['data'] ?? null,
      )
    : [];
  const isUndetermined = errors.length === 0 && found.length > 0 && found.every((one) => one.isUndetermined);
  if (isUndetermined) {
    return { verdict: 'unknown', reason: found.map(({ text }) => text).join('; '), differences: [] };
  }
  const differences = [...errors, ...found.map(({ text }) => text)];
  return { verdict: differences.length === 0 ? 'same' : 'differs', differences };
}

function defaultsOf({ variableDefinitions = [] }: OperationDefinitionNode): JsonRecord {
  return Object.fromEntries(
    variableDefinitions.flatMap(({ variable, defaultValue }) =>
      defaultValue ? [[variable.name.value, valueFromASTUntyped(defaultValue)] as const] : [],
    ),
  );
}

/** Returns how status and errors differ. Messages may name values and are not returned. */
function differentErrors(a: GraphqlAnswer, b: GraphqlAnswer): readonly string[] {
  const [before, after] = [errorsIn(a), errorsIn(b)];
  const status = a.status === b.status ? [] : [`status ${a.status} and ${b.status}`];
  if (isSameJson(before, after)) return status;
  const [codes, others] = [before, after].map((list) => list.map(({ code, path }) => `${code} at ${path}`));
  if (isSameJson(codes, others)) return [...status, 'errors: the messages differ'];
  return [...status, `errors: ${codes!.join(', ') || 'none'}, and ${others!.join(', ') || 'none'}`];
}

function errorsIn({ body }: GraphqlAnswer) {
  const errors = Array.isArray(body['errors']) ? body['errors'].filter(isRecord) : [];
  return errors.map(({ message, extensions }) => {
    const { code, path } = isRecord(extensions) ? extensions : {};
    return { code: String(code ?? 'without code'), path: String(path ?? '$'), message };
  });
}
