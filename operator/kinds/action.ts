/** Action: a field of Query or Mutation that a handler answers, defined in the schema language, optionally with its own types. Each role
 *  that may call it and each of its types is a separate object.
 *  Not here: types that several actions share (custom-types.ts). */
import {
  type Action,
  ActionDefinition,
  type ActionsSdl,
  type MetadataObject,
  objectKey,
  parseKey,
  printActionsSdl,
  Seconds,
  type Static,
  Type,
} from '@pergola/engine/metadata';
import { Comment, closed, keyedList, MetadataName, plainList, Sdl, withDescription } from './annotate.ts';
import { readSdl, TypeRelationships, typeObjects } from './custom-types.ts';
import { enumeration, metadataValue, pascalCase } from './enumeration.ts';
import { itemAt, wholeAt } from './field-path.ts';
import {
  type Inventory,
  kindRow,
  OBJECT_COLUMNS,
  type ResourceDraft,
  SpecProblem,
  specOf,
  type TranslateContext,
} from './kind.ts';
import { describeTransforms, TRANSFORMS, transformsOf } from './transform.ts';
import {
  describeHeaders,
  describeTemplate,
  Headers,
  headerPaths,
  headersOf,
  readValue,
  templateFor,
  urlSource,
} from './value-source.ts';

const KIND = ActionDefinition.properties.kind;

export const ActionSpec = specOf({
  sdl: withDescription(
    'The action in the GraphQL schema language: one field of Query or Mutation, and the types that only it uses, for example ' +
      '`type Mutation { login(email: String!): Login }` and `type Login { token: String! }`.',
    Sdl,
  ),
  handler: urlSource('The URL of the webhook, for example {value: "{{AUTH_URL}}/login"}.'),
  kind: Type.Optional(
    withDescription(
      'Synchronous: the response waits for the webhook. Asynchronous: the response has an id, with which the client reads the result. ' +
        'Absent: Synchronous.',
      enumeration(KIND),
    ),
  ),
  timeoutSeconds: Type.Optional(
    withDescription('The seconds after which a call without an answer has failed. Absent: 30.', Seconds),
  ),
  forwardClientHeaders: Type.Optional(
    Type.Boolean({ description: 'Sends the headers of the client to the webhook, too. Absent: false.' }),
  ),
  ignoredClientHeaders: Type.Optional(
    withDescription(
      'Names of headers of the client that are not forwarded. Absent: the headers that belong to the connection, such as content-length.',
      plainList(Type.String({ maxLength: 255 }), 100),
    ),
  ),
  headers: Type.Optional(Headers),
  permissions: Type.Optional(
    withDescription(
      'The roles that may call the action. Absent: administrators only.',
      keyedList(
        'role',
        closed({
          role: withDescription('The role that may call the action.', MetadataName),
          comment: Type.Optional(withDescription('A note about the permission.', Comment)),
        }),
        500,
      ),
    ),
  ),
  relationships: Type.Optional(TypeRelationships),
  ...TRANSFORMS,
  comment: Type.Optional(
    withDescription(
      'A note about the action, which clients see as the description of its field. Absent: the description in spec.sdl.',
      Comment,
    ),
  ),
});
type ActionSpec = Static<typeof ActionSpec>;

export const action = kindRow({
  kind: 'Action',
  plural: 'actions',
  singular: 'action',
  shortNames: ['gqla'],
  concerns: 'object',
  description: 'A field of Query or Mutation that a webhook answers.',
  spec: ActionSpec,
  columns: OBJECT_COLUMNS,
  selectableFields: ['.spec.engineRef.name'],
  deletionPolicy: 'Delete',
  target: (spec) => `action ${declaredIn(spec.sdl).action.name}`,
  translate: (spec, context) => {
    const { action: declared, types } = declaredIn(spec.sdl);
    return [
      ...typeObjects(types, spec.relationships),
      actionObject(declared, spec, context),
      ...(spec.permissions ?? []).map(
        (permission): MetadataObject => ({
          key: objectKey('action_permission', declared.name, permission.role),
          kind: 'action_permission',
          parent: objectKey('action', declared.name),
          definition: permission,
        }),
      ),
    ];
  },
  fieldPaths: (spec, { key, kind }) => {
    if (kind === 'action') {
      return [
        { at: 'spec.handler', of: ['definition', 'handler'] },
        ...headerPaths(spec.headers, ['definition']),
      ];
    }
    const own = parseKey(key)?.segments.at(-1);
    return kind === 'action_permission'
      ? wholeAt(itemAt('permissions', spec.permissions, ({ role }) => role === own))
      : [];
  },
  describe: (inventory) => inventory.all('action').map((object) => describeAction(object, inventory)),
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

function actionObject(
  { name, description, definition }: ActionsSdl['actions'][number],
  spec: ActionSpec,
  context: TranslateContext,
): MetadataObject {
  return {
    key: objectKey('action', name),
    kind: 'action',
    parent: null,
    definition: {
      name,
      definition: {
        ...definition,
        kind: spec.kind && metadataValue(KIND, spec.kind),
        handler: templateFor(readValue(spec.handler, 'spec.handler', context)),
        timeout: spec.timeoutSeconds,
        forward_client_headers: spec.forwardClientHeaders,
        ignored_client_headers: spec.ignoredClientHeaders,
        headers: headersOf(spec.headers, context),
        ...transformsOf(spec),
      },
      comment: spec.comment ?? description,
    },
  };
}

function describeAction({ key, definition: given }: MetadataObject, inventory: Inventory): ResourceDraft {
  const { name, definition, comment } = given as Action;
  return {
    name,
    spec: {
      sdl: printActionsSdl({ actions: [{ name, definition }] }),
      handler: describeTemplate(definition.handler),
      kind: definition.kind && pascalCase(definition.kind),
      timeoutSeconds: definition.timeout,
      forwardClientHeaders: definition.forward_client_headers,
      ignoredClientHeaders: definition.ignored_client_headers,
      headers: describeHeaders(definition.headers),
      permissions: inventory.under(key, 'action_permission').map((permission) => permission.definition),
      ...describeTransforms(definition),
      comment,
    },
  };
}
