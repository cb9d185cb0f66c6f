/** The form of values that kinds have until they take a ValueSource (value-source.ts). */
import { type Header, type Static, Type } from '@pergola/engine/metadata';
import { closed, exactlyOne, keyedList, Name, Variable, withDescription } from './annotate.ts';
import type { TranslateContext } from './kind.ts';

const KeyRef = closed({ name: Name, key: Name });

export const ConfigMapKeyRef = withDescription('A key of a ConfigMap in this namespace.', KeyRef);

/** The field for a key of a Secret or ConfigMap in the namespace of the resource. A change of the value is applied again. */
export const ValueFrom = closed(
  {
    secretKeyRef: Type.Optional(
      withDescription('A key of a Secret in this namespace, if the Engine allows literal secrets.', KeyRef),
    ),
    configMapKeyRef: Type.Optional(ConfigMapKeyRef),
  },
  exactlyOne('a value', 'secretKeyRef', 'configMapKeyRef'),
);
type ValueFrom = Static<typeof ValueFrom>;

export const FromEnv = withDescription('An environment variable of the engine.', Variable);

type Value = {
  readonly text: string | undefined;
  readonly env?: string | undefined;
  readonly from: ValueFrom | undefined;
};

/** Returns the value, or the reference to the environment variable that the engine reads. `path` is that of `from`. */
export function readValue(
  { text, env, from }: Value,
  path: string,
  context: TranslateContext,
): { readonly text?: string; readonly env?: string } {
  if (text !== undefined) return { text };
  if (env !== undefined) return { env };
  const found = context.valueFrom(from ?? {}, path);
  return typeof found === 'string' ? { text: found } : {};
}

export const Headers = keyedList(
  'name',
  closed(
    {
      name: Type.String({ minLength: 1, maxLength: 255 }),
      value: Type.Optional(Type.String({ maxLength: 8192 })),
      valueFromEnv: Type.Optional(FromEnv),
      valueFrom: Type.Optional(ValueFrom),
    },
    exactlyOne('a header', 'value', 'valueFromEnv', 'valueFrom'),
  ),
  100,
);
type Headers = Static<typeof Headers>;

export function headersOf(
  headers: Headers | undefined,
  context: TranslateContext,
): readonly Header[] | undefined {
  return headers?.map(({ name, value, valueFromEnv, valueFrom }, i) => {
    const path = `spec.headers[${i}].valueFrom`;
    const { text, env } = readValue({ text: value, env: valueFromEnv, from: valueFrom }, path, context);
    return env === undefined ? { name, value: text ?? '' } : { name, value_from_env: env };
  });
}

/** Returns the headers of a spec, the inverse of `headersOf`. */
export function describeHeaders(headers: readonly Header[] | undefined): Headers | undefined {
  return headers?.map(({ name, value, value_from_env }) =>
    value_from_env === undefined ? { name, value: value ?? '' } : { name, valueFromEnv: value_from_env },
  );
}
