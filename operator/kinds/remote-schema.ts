/** RemoteSchema: another GraphQL service that is part of the schema, with the part that each role sees. Each such part is a separate
 *  object. Not here: relationships from its types (remote-relationship.ts). */
import {
  type MetadataObject,
  objectKey,
  parseKey,
  type RemoteSchema,
  RemoteSchemaDefinition,
  type RemoteSchemaPermission,
  Seconds,
  type Static,
  Type,
} from '@pergola/engine/metadata';
import {
  Comment,
  closed,
  GraphqlName,
  keyedList,
  MetadataName,
  Sdl,
  textRecord,
  withDescription,
} from './annotate.ts';
import { itemAt, wholeAt } from './field-path.ts';
import {
  type Inventory,
  kindRow,
  OBJECT_COLUMNS,
  type ResourceDraft,
  specOf,
  type TranslateContext,
} from './kind.ts';
import { projectValue, unproject } from './project.ts';
import {
  describeField,
  describeHeaders,
  fieldOf,
  Headers,
  headerPaths,
  headersOf,
  readValue,
  urlSource,
} from './value-source.ts';

const affix = (description: string) => Type.Optional(Type.String({ maxLength: 255, description }));
/** Returns the fields that change names. `what` are the named things: `types`. */
function renaming(what: string) {
  return {
    prefix: affix(`Text in front of the names of ${what}, for example Billing.`),
    suffix: affix(`Text behind the names of ${what}.`),
    mapping: Type.Optional(
      withDescription(
        `New names of single ${what}: from the name in the service to the name in this schema. Prefix and suffix do not apply to them.`,
        textRecord(500),
      ),
    ),
  };
}

const Customization = closed({
  rootFieldsNamespace: Type.Optional(
    withDescription(
      'The name of a root field that contains all root fields of the service. Absent: they are root fields themselves.',
      GraphqlName,
    ),
  ),
  typeNames: Type.Optional(withDescription('Changes of the names of types.', closed(renaming('types')))),
  fieldNames: Type.Optional(
    withDescription(
      'Changes of the names of fields, by type.',
      keyedList(
        'parentType',
        closed({
          parentType: withDescription(
            'The type whose fields are renamed, by its name in the service, for example Query.',
            GraphqlName,
          ),
          ...renaming('fields'),
        }),
      ),
    ),
  ),
});
const CUSTOMIZATION = RemoteSchemaDefinition.properties.customization;

const Permission = closed({
  role: withDescription('The role that sees this part.', MetadataName),
  sdl: withDescription(
    'The part of the schema that the role sees, in the GraphQL schema language. Arguments may have @preset, for example ' +
      '`type Query { invoices(authorId: Int! @preset(value: "X-Engine-User-Id")): [Invoice] }`.',
    Sdl,
  ),
  comment: Type.Optional(withDescription('A note about the permission.', Comment)),
});

export const RemoteSchemaSpec = specOf({
  name: withDescription(
    'The name of the remote schema in the engine; relationships refer to it. A new name replaces the remote schema.',
    MetadataName,
  ),
  url: urlSource('The URL of the service, for example {value: "https://billing.example.com/graphql"}.'),
  timeoutSeconds: Type.Optional(
    withDescription('The seconds after which a request without an answer has failed. Absent: 60.', Seconds),
  ),
  forwardClientHeaders: Type.Optional(
    Type.Boolean({ description: 'Sends the headers of the client to the service, too. Absent: false.' }),
  ),
  headers: Type.Optional(Headers),
  customization: Type.Optional(
    withDescription('Names of the fields and types of the service in this schema.', Customization),
  ),
  permissions: Type.Optional(
    withDescription(
      'What each role sees of the service, if the engine runs with --enable-remote-schema-permissions. Absent: administrators see all, and ' +
        'other roles nothing.',
      keyedList('role', Permission, 500),
    ),
  ),
  comment: Type.Optional(withDescription('A note about the remote schema.', Comment)),
});
type RemoteSchemaSpec = Static<typeof RemoteSchemaSpec>;

export const remoteSchema = kindRow({
  kind: 'RemoteSchema',
  plural: 'remoteschemas',
  singular: 'remoteschema',
  shortNames: ['gqlrs'],
  concerns: 'object',
  description: 'A GraphQL service whose schema is part of the schema of the engine.',
  spec: RemoteSchemaSpec,
  columns: OBJECT_COLUMNS,
  selectableFields: ['.spec.engineRef.name', '.spec.name'],
  deletionPolicy: 'Delete',
  target: (spec) => `remote schema ${spec.name}`,
  translate: (spec, context) => [
    schemaObject(spec, context),
    ...(spec.permissions ?? []).map(
      ({ role, sdl, comment }): MetadataObject => ({
        key: objectKey('remote_schema_permission', spec.name, role),
        kind: 'remote_schema_permission',
        parent: objectKey('remote_schema', spec.name),
        definition: { role, definition: { schema: sdl }, comment },
      }),
    ),
  ],
  fieldPaths: (spec, { key, kind }) => {
    const own = parseKey(key)?.segments.at(-1);
    return kind === 'remote_schema_permission'
      ? wholeAt(itemAt('permissions', spec.permissions, ({ role }) => role === own))
      : [
          { at: 'spec.url', of: ['definition', 'url'] },
          { at: 'spec.url', of: ['definition', 'url_from_env'] },
          ...headerPaths(spec.headers, ['definition']),
        ];
  },
  describe: (inventory) => inventory.all('remote_schema').map((object) => describeSchema(object, inventory)),
});

function schemaObject(spec: RemoteSchemaSpec, context: TranslateContext): MetadataObject {
  return {
    key: objectKey('remote_schema', spec.name),
    kind: 'remote_schema',
    parent: null,
    definition: {
      name: spec.name,
      definition: {
        ...fieldOf('url', readValue(spec.url, 'spec.url', context)),
        headers: headersOf(spec.headers, context),
        forward_client_headers: spec.forwardClientHeaders,
        timeout_seconds: spec.timeoutSeconds,
        customization: spec.customization && unproject(CUSTOMIZATION, spec.customization),
      },
      comment: spec.comment,
    },
  };
}

function describeSchema({ key, definition: given }: MetadataObject, inventory: Inventory): ResourceDraft {
  const { name, definition, comment } = given as RemoteSchema;
  const permissions = inventory.under(key, 'remote_schema_permission').map((permission) => {
    const { role, definition: part, comment: said } = permission.definition as RemoteSchemaPermission;
    return { role, sdl: part.schema, comment: said };
  });
  return {
    name,
    spec: {
      name,
      url: describeField('url', definition),
      timeoutSeconds: definition.timeout_seconds,
      forwardClientHeaders: definition.forward_client_headers,
      headers: describeHeaders(definition.headers),
      customization: definition.customization && projectValue(CUSTOMIZATION, definition.customization),
      permissions,
      comment,
    },
  };
}
