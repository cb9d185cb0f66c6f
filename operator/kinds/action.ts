/** Action: a field of Query or Mutation that a handler answers, defined in the schema language, optionally with its own types. Each role
 *  that may call it and each of its types is a separate object.
 *  Not here: types that several actions share (custom-types.ts). */
import { type Action, ActionDefinition, printActionsSdl, Seconds, Type } from '@pergola/engine/metadata';
import { Comment, closed, keyedList, MetadataName, plainList, Sdl } from './annotate.ts';
import { readSdl, TypeRelationships, typeObjects } from './custom-types.ts';
import { enumeration } from './enumeration.ts';
import { kindRow, SpecProblem, specOf } from './kind.ts';
import { inForm, type MetadataForm, mappedTo, optional, required, within } from './mapping.ts';
import { TRANSFORMS } from './transform.ts';
import { Headers, urlTemplate } from './value-source.ts';

/** The field and its types in the metadata. Types of its own are separate objects. */
const AS_ACTION: MetadataForm = {
  write: (sdl) => {
    const { name, definition, description: comment } = declaredIn(sdl).action;
    return { name, definition, comment };
  },
  read: ({ name, definition }: Action) => printActionsSdl({ actions: [{ name, definition }] }),
  isWhole: true,
};

export const ActionSpec = specOf({
  sdl: required(
    'The action in the GraphQL schema language: one field of Query or Mutation, and the types that only it uses, for example ' +
      '`type Mutation { login(email: String!): Login }` and `type Login { token: String! }`.',
    inForm(Sdl, AS_ACTION),
    '',
  ),
  ...within('definition', {
    handler: urlTemplate('handler', 'The URL of the webhook, for example {value: "{{AUTH_URL}}/login"}.'),
    kind: optional(
      'Synchronous: the response waits for the webhook. Asynchronous: the response has an id, with which the client reads the result. ' +
        'Absent: Synchronous.',
      enumeration(ActionDefinition.properties.kind),
    ),
    timeoutSeconds: optional(
      'The seconds after which a call without an answer has failed. Absent: 30.',
      Seconds,
      'timeout',
    ),
    forwardClientHeaders: optional(
      'Sends the headers of the client to the webhook, too. Absent: false.',
      Type.Boolean(),
    ),
    ignoredClientHeaders: optional(
      'Names of headers of the client that are not forwarded. Absent: the headers that belong to the connection, such as content-length.',
      plainList(Type.String({ maxLength: 255 }), 100),
    ),
    headers: Type.Optional(Headers),
  }),
  permissions: optional(
    'The roles that may call the action. Absent: administrators only.',
    keyedList(
      'role',
      closed({
        role: required('The role that may call the action.', MetadataName),
        comment: optional('A note about the permission.', Comment),
      }),
      500,
    ),
  ),
  relationships: Type.Optional(mappedTo(null, TypeRelationships)),
  ...within('definition', TRANSFORMS),
  comment: optional(
    'A note about the action, which clients see as the description of its field. Absent: the description in spec.sdl.',
    Comment,
  ),
});
export const action = kindRow({
  kind: 'Action',
  shortNames: ['gqla'],
  concerns: 'object',
  description: 'A field of Query or Mutation that a webhook answers.',
  spec: ActionSpec,
  selectableFields: ['.spec.engineRef.name'],
  target: (spec) => `action ${declaredIn(spec.sdl).action.name}`,
  objects: [
    { kind: 'action', key: [({ sdl }) => declaredIn(String(sdl)).action.name] },
    { kind: 'action_permission', at: 'permissions', key: ['role'] },
  ],
  translate: (spec, _, own) => [...typeObjects(declaredIn(spec.sdl).types, spec.relationships), ...own()],
});

function declaredIn(sdl: string) {
  const { actions, types } = readSdl(sdl);
  const [declared, ...others] = actions;
  if (declared && others.length === 0) return { action: declared, types };
  const found = actions.map(({ name }) => name).join(', ') || 'none';
  throw new SpecProblem(
    'InvalidSpec',
    `spec.sdl: an Action is one field of Query or Mutation, and there are: ${found}; add an Action object for each`,
  );
}
