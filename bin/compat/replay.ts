/** Sends recorded operations to two endpoints and compares the answers. Mutations are sent only when wanted, because both endpoints
 *  may have one database. In: two endpoints, operations. Out: one report per operation. Throws EngineProblem when an endpoint does not answer.
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
import { requestGraphql } from './graphql-request.ts';
import type { RecordedOperation } from './recording.ts';
import type { OperationReport } from './report.ts';

type Answer = Awaited<ReturnType<typeof requestGraphql>>;

/** Sends one operation after another, so that mutations have the same order at both endpoints. */
export async function replay(
  from: EngineAddress,
  to: EngineAddress,
  operations: readonly RecordedOperation[],
  sendsMutations: boolean,
): Promise<readonly OperationReport[]> {
  const reports: OperationReport[] = [];
  for (const [i, recorded] of operations.entries()) {
    const document = documentOf(recorded.query);
    const operation = document && getOperationAST(document, recorded.operationName);
    const about = {
      name: recorded.name ?? recorded.operationName ?? operation?.name?.value ?? `operation ${i + 1}`,
      role: recorded.role ?? '',
    };
    const reason = whySkipped(operation, sendsMutations);
    if (reason !== undefined) {
      reports.push({ ...about, verdict: 'skipped', reason, differences: [] });
      continue;
    }
    const request = {
      ...recorded,
      variables: recorded.variables ?? undefined,
      operationName: recorded.operationName ?? undefined,
    };
    const [a, b] = [await requestGraphql(from, request), await requestGraphql(to, request)];
    reports.push({ ...about, ...compared(document, operation, recorded.variables ?? {}, a, b) });
  }
  return reports;
}

/** Returns the document; undefined for text that is not GraphQL, which both endpoints refuse. */
function documentOf(query: string): DocumentNode | undefined {
  try {
    return parse(query);
  } catch {
    return undefined;
  }
}

type MaybeOperation = OperationDefinitionNode | null | undefined;

function whySkipped(operation: MaybeOperation, sendsMutations: boolean): string | undefined {
  if (operation?.operation === 'subscription') return 'subscriptions are not replayed';
  const isMutation = operation?.operation === 'mutation';
  return isMutation && !sendsMutations ? 'mutations are sent only with --mutations' : undefined;
}

function compared(
  document: DocumentNode | undefined,
  operation: MaybeOperation,
  variables: JsonRecord,
  a: Answer,
  b: Answer,
): Pick<OperationReport, 'verdict' | 'reason' | 'differences'> {
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
function differentErrors(a: Answer, b: Answer): readonly string[] {
  const [before, after] = [errorsIn(a), errorsIn(b)];
  const status = a.status === b.status ? [] : [`status ${a.status} and ${b.status}`];
  if (isSameJson(before, after)) return status;
  const [codes, others] = [before, after].map((list) => list.map(({ code, path }) => `${code} at ${path}`));
  if (isSameJson(codes, others)) return [...status, 'errors: the messages differ'];
  return [...status, `errors: ${codes!.join(', ') || 'none'}, and ${others!.join(', ') || 'none'}`];
}

function errorsIn({ body }: Answer) {
  const errors = Array.isArray(body['errors']) ? body['errors'].filter(isRecord) : [];
  return errors.map(({ message, extensions }) => {
    const { code, path } = isRecord(extensions) ? extensions : {};
    return { code: String(code ?? 'without code'), path: String(path ?? '$'), message };
  });
}
