/** Action: a field of Query or Mutation that a handler answers, defined in the schema language, optionally with its own types. Each role
 *  that may call it and each of its types is a separate object.
 *  Not here: types that several actions share (custom-types.ts). */
import {
  type Action,
  type MetadataObject,
  objectKey,
  parseKey,
  printActionsSdl,
  Seconds,
  type Static,
  Type,
} from '@pergola/engine/metadata';
import {
  Comment,
  closed,
  exactlyOne,
  keyedList,
  MetadataName,
  plainList,
  Sdl,
  Url,
  withDescription,
} from './annotate.ts';
import { readSdl, TypeRelationships, typeObjects } from './custom-types.ts';
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
import { describeHeaders, Headers, headersOf, readValue, ValueFrom } from './old-value-source.ts';
import { describeTransforms, TRANSFORMS, transformsOf } from './transform.ts';

export const ActionSpec = specOf(
  {
    sdl: withDescription(
      '`type Mutation { login(email: String!): Login }`: one field, and the types that only it uses.',
      Sdl,
    ),
    handler: Type.Optional(withDescription('May contain environment variables: {{AUTH_URL}}/login.', Url)),
    handlerFrom: Type.Optional(ValueFrom),
    kind: Type.Optional(Type.Union([Type.Literal('synchronous'), Type.Literal('asynchronous')])),
    timeoutSeconds: Type.Optional(withDescription('The default is 30.', Seconds)),
    forwardClientHeaders: Type.Optional(Type.Boolean()),
    ignoredClientHeaders: Type.Optional(plainList(Type.String({ maxLength: 255 }), 100)),
    headers: Type.Optional(Headers),
    permissions: Type.Optional(
      keyedList('role', closed({ role: MetadataName, comment: Type.Optional(Comment) }), 500),
    ),
    relationships: Type.Optional(TypeRelationships),
    ...TRANSFORMS,
    comment: Type.Optional(Comment),
  },
  exactlyOne('spec', 'handler', 'handlerFrom'),
);
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
  { name, definition }: { readonly name: string; readonly definition: object },
  spec: ActionSpec,
  context: TranslateContext,
): MetadataObject {
  const handler = readValue({ text: spec.handler, from: spec.handlerFrom }, 'spec.handlerFrom', context);
  return {
    key: objectKey('action', name),
    kind: 'action',
    parent: null,
    definition: {
      name,
      definition: {
        ...definition,
        kind: spec.kind,
        handler: handler.text,
        timeout: spec.timeoutSeconds,
        forward_client_headers: spec.forwardClientHeaders,
        ignored_client_headers: spec.ignoredClientHeaders,
        headers: headersOf(spec.headers, context),
        ...transformsOf(spec),
      },
      comment: spec.comment,
    },
  };
}

function describeAction({ key, definition: given }: MetadataObject, inventory: Inventory): ResourceDraft {
  const { name, definition, comment } = given as Action;
  return {
    name,
    spec: {
      sdl: printActionsSdl({ actions: [{ name, definition }] }),
      handler: definition.handler,
      kind: definition.kind,
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
