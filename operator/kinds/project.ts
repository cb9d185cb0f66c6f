/** Projects schemas of the metadata to custom resources, for objects that have the same fields in both: snake_case keys become camelCase,
 *  values of enumerations PascalCase (enumeration.ts), and null, which means absent, is omitted.
 *  In: a schema of engine/metadata/schema. Out: the schema of a field, with its mapping. Pure.
 *  Not here: fields with a sentence or a name of their own; their kinds declare them. */
import { type TSchema, Type } from '@pergola/engine/metadata';
import { closed } from './annotate.ts';
import { enumeration } from './enumeration.ts';
import { mappedTo } from './mapping.ts';

type Shape = {
  readonly type?: string;
  readonly const?: unknown;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Shape[];
};

/** Returns the schema of the same value in a custom resource. */
export function project(schema: TSchema): TSchema {
  const { description } = schema as Shape;
  return description === undefined ? structureOf(schema) : { ...structureOf(schema), description };
}

function structureOf(shape: Shape & TSchema): TSchema {
  const branches = withoutNull(shape);
  if (branches.length === 1) return project(branches[0] as TSchema);
  if (branches.length > 1 && branches.every((branch) => typeof branch.const === 'string')) {
    return enumeration({ anyOf: branches } as TSchema);
  }
  if (shape.properties) {
    const { required = [] } = shape;
    const fields = Object.entries(shape.properties).map(([key, member]) => {
      const field = mappedTo(key, project(member as TSchema));
      return [camelCase(key), required.includes(key) ? field : Type.Optional(field)];
    });
    return closed(Object.fromEntries(fields));
  }
  if (shape.type === undefined || shape.type === 'array') {
    throw new Error('this value has another form in custom resources: declare its field by hand');
  }
  return shape.type === 'string' ? { maxLength: 4096, ...shape } : shape;
}

export function camelCase(key: string): string {
  return key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns the branches of a union and of nested unions, without null. */
function withoutNull(shape: Shape): readonly Shape[] {
  return (shape.anyOf ?? [])
    .filter((branch) => branch.type !== 'null')
    .flatMap((branch) => (branch.anyOf ? withoutNull(branch) : [branch]));
}
