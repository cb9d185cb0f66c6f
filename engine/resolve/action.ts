/** Actions: their arguments and results, their webhook, and the roles that may run them. In: actions of the metadata × custom
 *  types. Out: ResolvedAction by name. Not here: the types (custom-type.ts), calling (execute/action.ts). Reference: docs/reference/behaviour/actions.md. */

import { fail } from '../errors/engine-error.ts';
import type { Action } from '../metadata/schema/action.ts';
import { timerSeconds } from '../metadata/schema/number.ts';
import type { InheritedRole } from '../metadata/schema/policy.ts';
import type { TakenNames } from './conflicts.ts';
import type { ResolveContext } from './context.ts';
import { duplicates, GRAPHQL_SCALARS, namedIn, typeUse } from './custom-type.ts';
import { actionSubject } from './inconsistency.ts';
import { withInheritedRoles } from './inherited-roles.ts';
import type { ResolvedAction } from './model/action.ts';
import type { ActionTypes, TypeUse } from './model/custom-type.ts';
import type { ActionWebhook } from './model/webhook.ts';

type ActionScope = {
  readonly types: ActionTypes;
  readonly names: TakenNames;
  readonly inheritedRoles: readonly InheritedRole[];
};

/** Returns the actions that fit, by name, in metadata order. */
export function resolveActions(
  actions: readonly Action[],
  { types, names, inheritedRoles }: ActionScope,
  { variables, found }: ResolveContext,
): ReadonlyMap<string, ResolvedAction> {
  const resolved = new Map<string, ResolvedAction>();
  for (const definition of actions) {
    const subject = actionSubject(definition);
    const action = found.attempt(subject, () => {
      variables.require('action', definition);
      return resolveAction(definition, types, inheritedRoles);
    });
    if (!action) continue;
    const conflict = names.addAction(action);
    if (conflict) found.add(subject, conflict);
    else resolved.set(action.name, action);
  }
  return resolved;
}

function resolveAction(
  { name, comment, definition, permissions }: Action,
  types: ActionTypes,
  inheritedRoles: readonly InheritedRole[],
): ResolvedAction {
  const type = definition.type ?? 'mutation';
  const isAsynchronous = type === 'mutation' && definition.kind === 'asynchronous';
  const given = definition.arguments ?? [];
  const twice = duplicates(given);
  if (twice !== null) fail('invalidConfiguration', { text: `the action has duplicate arguments: ${twice}` });
  const output = usedType(definition.output_type, null, types);
  if (isAsynchronous) refuseNestedObjects(output, types);
  const { response_transform: responseTransform } = definition;
  return {
    name,
    description: comment ?? null,
    type,
    isAsynchronous,
    arguments: given.map((argument) => ({
      name: argument.name,
      type: usedType(argument.type, argument.name, types),
      description: argument.description ?? null,
    })),
    output,
    webhook: webhookOf(definition),
    ...(responseTransform ? { responseTransform } : {}),
    roles: withInheritedRoles(new Set((permissions ?? []).map(({ role }) => role)), inheritedRoles),
  };
}

function webhookOf(definition: Action['definition']): ActionWebhook {
  const { ignored_client_headers: ignored, request_transform: transform } = definition;
  return {
    url: definition.handler,
    headers: definition.headers ?? [],
    forwardsClientHeaders: definition.forward_client_headers ?? false,
    timeoutSeconds: timerSeconds(definition.timeout ?? 30),
    ...(ignored ? { ignoredClientHeaders: ignored } : {}),
    ...(transform ? { requestTransform: transform } : {}),
  };
}

/** Returns the type of an argument, or of the output if `argument` is null. Raises `invalidConfiguration`. */
function usedType(written: string, argument: string | null, types: ActionTypes): TypeUse {
  const isOutput = argument === null;
  const where = isOutput ? 'the output type' : `the type of the argument "${argument}"`;
  const refuse = (what: string, options: { readonly behind?: string } = {}) =>
    fail('invalidConfiguration', { text: `${where}, "${written}", ${what}` }, options);
  const use = typeUse(written) ?? refuse('is no type');
  const named = namedIn(use);
  if (GRAPHQL_SCALARS.has(named)) return use;
  const type = types.find(named) ?? refuse('does not exist', { behind: 'not-exists' });
  if (type.kind === (isOutput ? 'input' : 'object')) refuse(`is an ${isOutput ? 'input' : 'output'} type`);
  return use;
}

/** Refuses relationships next to object fields in the result of an asynchronous action: its stored result is joined to tables
 *  when it is read, one level deep. */
function refuseNestedObjects(output: TypeUse, { find, declared }: ActionTypes): void {
  const type = declared.get(namedIn(output));
  if (type?.kind !== 'object' || type.relationships.length === 0) return;
  const nested = type.fields.filter((field) => find(namedIn(field.type))?.kind === 'object');
  if (nested.length === 0) return;
  const names = nested.map(({ name }) => JSON.stringify(name)).join(', ');
  fail('invalidConfiguration', {
    text: `Async action relations cannot be used with object fields: ${names}`,
  });
}
