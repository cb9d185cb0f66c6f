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
  headersOf,
  readValue,
  urlSource,
} from './value-source.ts';

const Affix = Type.Optional(Type.String({ maxLength: 255 }));

const Customization = closed({
  rootFieldsNamespace: Type.Optional(
    withDescription('The name of a field that contains all its root fields.', GraphqlName),
  ),
  typeNames: Type.Optional(closed({ prefix: Affix, suffix: Affix, mapping: Type.Optional(textRecord(500)) })),
  fieldNames: Type.Optional(
    keyedList(
      'parentType',
      closed({
        parentType: GraphqlName,
        prefix: Affix,
        suffix: Affix,
        mapping: Type.Optional(textRecord(500)),
      }),
    ),
  ),
});
const CUSTOMIZATION = RemoteSchemaDefinition.properties.customization;

const Permission = closed({
  role: MetadataName,
  schema: withDescription('The part of the schema that the role sees. Arguments may have @preset.', Sdl),
  comment: Type.Optional(Comment),
});

export const RemoteSchemaSpec = specOf({
  name: MetadataName,
  url: urlSource('The URL of the service, for example {value: "https://billing.example.com/graphql"}.'),
  timeoutSeconds: Type.Optional(withDescription('The default is 60.', Seconds)),
  forwardClientHeaders: Type.Optional(Type.Boolean()),
  headers: Type.Optional(Headers),
  customization: Type.Optional(Customization),
  permissions: Type.Optional(keyedList('role', Permission, 500)),
  comment: Type.Optional(Comment),
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
      ({ role, schema, comment }): MetadataObject => ({
        key: objectKey('remote_schema_permission', spec.name, role),
        kind: 'remote_schema_permission',
        parent: objectKey('remote_schema', spec.name),
        definition: { role, definition: { schema }, comment },
      }),
    ),
  ],
  fieldPaths: (spec, { key, kind }) => {
    const own = parseKey(key)?.segments.at(-1);
    return kind === 'remote_schema_permission'
      ? wholeAt(itemAt('permissions', spec.permissions, ({ role }) => role === own))
      : [];
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
    return { role, schema: part.schema, comment: said };
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
