/** The small schemas that metadata objects share: names, table references, environment values, headers, retries.
 *  Each is a TypeBox value with the TypeScript type derived from it. All are canonical: metadata/parse.ts normalises the other forms
 *  that the admin API accepts (a bare table name, `"pg"`).
 *  Reference: docs/reference/behaviour/metadata.md. */
import { boolExp, columnOf, ref, secret } from './marks.ts';
import { oneOf, type Static, type TProperties, type TSchema, Type } from './type.ts';

/** A name that appears in the GraphQL schema. */
export const GraphqlName = Type.String({ pattern: '^[_A-Za-z][_0-9A-Za-z]*$', maxLength: 255 });
/** A non-empty name of a metadata object. */
export const ObjectName = Type.String({ minLength: 1, maxLength: 255 });
export const RoleName = ref('role', Type.String({ minLength: 1, maxLength: 255 }));
/** A column of the table that an object is nested in. */
export const ColumnName = columnOf('here', Type.String({ minLength: 1 }));

/** A table, view or function in one source. On the wire a bare string means schema `public`. */
export const QualifiedName = Type.Object(
  { schema: Type.String({ minLength: 1 }), name: Type.String({ minLength: 1 }) },
  { additionalProperties: false, title: 'QualifiedName' },
);
export type QualifiedName = Static<typeof QualifiedName>;

/** Returns a qualified name as a key of maps, unambiguous for names that contain dots. */
export function qualifiedKey(name: QualifiedName): string {
  return JSON.stringify([name.schema, name.name]);
}

/** Returns a qualified name for messages: `author`, or `sales.author` outside `public`. */
export function printQualified(name: QualifiedName): string {
  return name.schema === 'public' ? name.name : `${name.schema}.${name.name}`;
}

/** A JSON boolean expression over a table. Its meaning depends on the columns of the table, so resolve/bool-exp.ts checks it. */
export const BoolExp = boolExp(
  Type.Unsafe<Readonly<Record<string, unknown>>>({
    type: 'object',
    title: 'BoolExp',
    additionalProperties: true,
  }),
);
export type BoolExp = Static<typeof BoolExp>;

/** Columns: all of them, or the listed ones. */
export const Columns = Type.Union([Type.Literal('*'), Type.Array(ColumnName)]);
export type Columns = Static<typeof Columns>;

/** The values, by column, that the engine sets and clients cannot: constants or session variables (`x-engine-…`). */
export const Presets = Type.Record(columnOf('here', Type.String()), secret(Type.Unknown()));

/** How the text of a schema names environment variables. */
export type VariableMark = {
  /** `name`: the text is the name of an environment variable. `value`: of a named value. `file`: the path of a file. `template`: the
   *  text contains `{{NAME}}`. */
  readonly form: 'name' | 'value' | 'file' | 'template';
  /** `connection`: the value opens connections to a database. `outbound`: the value is sent to external services. */
  readonly use: 'connection' | 'outbound';
};

/** The key of a VariableMark in a schema. JSON Schema printed from the schema does not have it. */
export const VARIABLE_MARK = Symbol('variable');

/** Returns the schema with a mark that variables.ts reads. */
function marked<T extends TSchema>(schema: T, form: VariableMark['form'], use: VariableMark['use']): T {
  const made = { ...schema, [VARIABLE_MARK]: { form, use } satisfies VariableMark };
  // People write keys into URLs and headers, although they may stand in variables.
  return form === 'template' ? secret(made) : made;
}

/** A mark of a value that decides about the requests which the engine sends for an object. `url`: the address, or what has it. `transformed-url`: the template
 *  of the address in a transform. `client-headers`: true sends the headers of clients. */
export type CallMark =
  | { readonly kind: 'url'; readonly form: VariableMark['form'] }
  | { readonly kind: 'transformed-url' | 'client-headers' };

/** The key of a CallMark in a schema, which calls.ts reads. */
export const CALL_MARK = Symbol('call');

function ofCall<T extends TSchema>(schema: T, mark: CallMark): T {
  return { ...schema, [CALL_MARK]: mark };
}

/** Returns the schema of an address, or of the name of what has it. */
function url<T extends TSchema>(schema: T, form: VariableMark['form']): T {
  return ofCall(marked(schema, form, 'outbound'), { kind: 'url', form });
}

export const ForwardClientHeaders = ofCall(Type.Boolean(), { kind: 'client-headers' });

/** The name of a variable whose value is sent to external services. */
const OutboundVariable = marked(Type.String(), 'name', 'outbound');
/** A URL that may contain `{{ENV_VAR}}`. */
export const UrlTemplate = url(Type.String({ minLength: 1 }), 'template');
/** The name of a variable that holds a URL. */
export const UrlVariable = url(Type.String(), 'name');

/** The pattern of the names of named values: `team-a/stripe/token`. */
export const VALUE_NAME = '^[A-Za-z0-9][A-Za-z0-9._/-]*$';
export const ValueName = Type.String({ pattern: VALUE_NAME, maxLength: 512 });
/** The absolute path of a file. Braces are not allowed, because a path may stand in a template. */
const FilePath = Type.String({ pattern: '^/[^{}]*$', maxLength: 4096 });

/** The name of a named value whose text is sent to external services. */
const OutboundValue = marked(ValueName, 'value', 'outbound');
/** The path of a file whose text is sent to external services. */
const OutboundFile = marked(FilePath, 'file', 'outbound');
/** The name of a named value, and the path of a file, that hold a URL. */
export const UrlValue = url(ValueName, 'value');
export const UrlFile = url(FilePath, 'file');

const only = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });
const connection = {
  from_env: marked(Type.String({ minLength: 1 }), 'name', 'connection'),
  from_value: marked(ValueName, 'value', 'connection'),
  from_file: marked(FilePath, 'file', 'connection'),
};
/** A variable that holds a connection string, a certificate or a key of a database connection. */
export const ConnectionFromEnv = only({ from_env: connection.from_env });
/** A named value that holds a connection string, a certificate or a key of a database connection. */
export const ConnectionFromValue = only({ from_value: connection.from_value });
/** A variable, named value or file that holds a part of a database connection. */
export const ConnectionFromElsewhere = Type.Union([
  ConnectionFromEnv,
  ConnectionFromValue,
  only({ from_file: connection.from_file }),
]);
/** A certificate or key of a database connection: a variable, a named value or a file. Exactly one member is set. */
export const ConnectionPart = only({
  from_env: Type.Optional(connection.from_env),
  from_value: Type.Optional(connection.from_value),
  from_file: Type.Optional(connection.from_file),
});
/** A URL that may contain `{{ENV_VAR}}`, or the variable, named value or file that holds it. */
export const EnvValue = Type.Union([
  url(Type.String(), 'template'),
  only({ from_env: url(Type.String({ minLength: 1 }), 'name') }),
  only({ from_value: UrlValue }),
  only({ from_file: UrlFile }),
]);
export type EnvValue = Static<typeof EnvValue>;

/** The key of a list of properties in the schema of an object. Exactly one of them is given; validate.ts checks that. JSON Schema printed
 *  from the schema does not have it. */
export const CHOICE_MARK = Symbol('choice');

/** A header sent to a webhook or remote schema. `value` may contain `{{ENV_VAR}}`. Exactly one of `value`, `value_from_env`, `value_from_value` and `value_from_file`
 *  is given. */
export const Header = {
  ...Type.Object(
    {
      name: Type.String({ minLength: 1 }),
      value: Type.Optional(marked(Type.String(), 'template', 'outbound')),
      value_from_env: Type.Optional(OutboundVariable),
      value_from_value: Type.Optional(OutboundValue),
      value_from_file: Type.Optional(OutboundFile),
    },
    { additionalProperties: false },
  ),
  [CHOICE_MARK]: ['value', 'value_from_env', 'value_from_value', 'value_from_file'],
};
export type Header = Static<typeof Header>;

export const Comment = Type.Union([Type.String(), Type.Null()]);

/** Text, or null for none. */
export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** A template of a transform, or a part of one. */
const Template = secret(Type.String());
const BodyTransform = Type.Union([
  Template,
  Type.Object({
    action: oneOf('transform', 'remove', 'x_www_form_urlencoded'),
    template: Type.Optional(Template),
    form_template: Type.Optional(Type.Record(Type.String(), Template)),
  }),
]);
/** The transform of a body. A bare string is a template of JSON. */
export type BodyTransform = Static<typeof BodyTransform>;

/** The transform of a request to a webhook. Its strings are templates (engine/transform). */
export const RequestTransform = Type.Object({
  version: Type.Optional(Type.Union([Type.Literal(1), Type.Literal(2)])),
  method: Type.Optional(Type.String()),
  url: Type.Optional(ofCall(Template, { kind: 'transformed-url' })),
  body: Type.Optional(BodyTransform),
  query_params: Type.Optional(Type.Union([Template, Type.Record(Type.String(), nullable(Template))])),
  request_headers: Type.Optional(
    Type.Object({
      add_headers: Type.Optional(Type.Record(Type.String(), Template)),
      remove_headers: Type.Optional(Type.Array(Type.String())),
    }),
  ),
  template_engine: Type.Optional(Type.Literal('Kriti')),
});
export type RequestTransform = Static<typeof RequestTransform>;

export const ResponseTransform = Type.Object({
  version: Type.Optional(Type.Union([Type.Literal(1), Type.Literal(2)])),
  body: Type.Optional(BodyTransform),
  template_engine: Type.Optional(Type.Literal('Kriti')),
});
export type ResponseTransform = Static<typeof ResponseTransform>;
