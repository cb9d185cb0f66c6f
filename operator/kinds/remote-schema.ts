/** RemoteSchema: another GraphQL service that is part of the schema, with the part that each role sees. Each such part is a separate
 *  object. Not here: relationships from its types (remote-relationship.ts). */
import { Seconds, secret, Type } from '@pergola/engine/metadata';
import { Comment, closed, GraphqlName, keyedList, MetadataName, Sdl, textRecord } from './annotate.ts';
import { kindRow, specOf } from './kind.ts';
import { optional, required, within } from './mapping.ts';
import { Headers, urlMember } from './value-source.ts';

const affix = (description: string) => optional(description, Type.String({ maxLength: 255 }));

/** Returns the fields that change names. `what` are the named things: `types`. */
function renaming(what: string) {
  return {
    prefix: affix(`Text in front of the names of ${what}, for example Billing.`),
    suffix: affix(`Text behind the names of ${what}.`),
    mapping: optional(
      `New names of single ${what}: from the name in the service to the name in this schema. Prefix and suffix do not apply to them.`,
      textRecord(500),
    ),
  };
}

const Customization = closed({
  rootFieldsNamespace: optional(
    'The name of a root field that contains all root fields of the service. Absent: they are root fields themselves.',
    GraphqlName,
  ),
  typeNames: optional('Changes of the names of types.', closed(renaming('types'))),
  fieldNames: optional(
    'Changes of the names of fields, by type.',
    keyedList(
      'parentType',
      closed({
        parentType: required(
          'The type whose fields are renamed, by its name in the service, for example Query.',
          GraphqlName,
        ),
        ...renaming('fields'),
      }),
    ),
  ),
});

const Permission = closed({
  role: required('The role that sees this part.', MetadataName),
  sdl: required(
    'The part of the schema that the role sees, in the GraphQL schema language. Arguments may have @preset, for example ' +
      '`type Query { invoices(authorId: Int! @preset(value: "X-Engine-User-Id")): [Invoice] }`.',
    secret(Sdl),
    'definition.schema',
  ),
  comment: optional('A note about the permission.', Comment),
});

export const RemoteSchemaSpec = specOf({
  name: required(
    'The name of the remote schema in the engine; relationships refer to it. A new name replaces the remote schema.',
    MetadataName,
  ),
  ...within('definition', {
    url: urlMember(
      'url',
      'The URL of the service, for example {value: "https://billing.example.com/graphql"}.',
    ),
    timeoutSeconds: optional(
      'The seconds after which a request without an answer has failed. Absent: 60.',
      Seconds,
    ),
    forwardClientHeaders: optional(
      'Sends the headers of the client to the service, too. Absent: false.',
      Type.Boolean(),
    ),
    headers: Type.Optional(Headers),
    customization: optional('Names of the fields and types of the service in this schema.', Customization),
  }),
  permissions: optional(
    'What each role sees of the service, if the engine runs with --enable-remote-schema-permissions. Absent: administrators see all, and ' +
      'other roles nothing.',
    keyedList('role', Permission, 500),
  ),
  comment: optional('A note about the remote schema.', Comment),
});
export const remoteSchema = kindRow({
  kind: 'RemoteSchema',
  shortNames: ['gqlrs'],
  concerns: 'object',
  description: 'A GraphQL service whose schema is part of the schema of the engine.',
  spec: RemoteSchemaSpec,
  selectableFields: ['.spec.engineRef.name', '.spec.name'],
  target: (spec) => `remote schema ${spec.name}`,
  objects: [
    { kind: 'remote_schema', key: ['name'] },
    { kind: 'remote_schema_permission', at: 'permissions', key: ['role'] },
  ],
});
