/** `__schema` and `__type`, answered here and now from the role's schema: their JSON text is part of the plan.
 *  The only use of graphql's executor; it never sees a field of the data. */
import { executeSync, type FieldNode, Kind, visit } from 'graphql';
import { fail } from '../errors/engine-error.ts';
import type { PlanContext } from './context.ts';

export function isIntrospection(name: string): boolean {
  return name === '__schema' || name === '__type';
}

/** JSON text of one introspection root. */
export function introspectionJson(alias: string, nodes: readonly FieldNode[], context: PlanContext): string {
  const { document, variables } = context;
  for (const node of nodes) {
    visit(node, { Variable: ({ name }) => void document.byValue.add(name.value) });
  }
  const operation = {
    ...document.operation,
    selectionSet: { kind: Kind.SELECTION_SET, selections: nodes },
  } as const;
  const result = executeSync({
    schema: document.role.schema(),
    document: { kind: Kind.DOCUMENT, definitions: [operation, ...document.fragments.values()] },
    variableValues: variables,
  });
  const [problem] = result.errors ?? [];
  if (problem) return fail('validationFailed', { text: problem.message });
  return JSON.stringify((result.data as Record<string, unknown> | null)?.[alias] ?? null);
}
