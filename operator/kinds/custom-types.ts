/** CustomTypes: types that actions share, in the schema language, and their relationships. Each type is a separate object. An Action may
 *  define its own types in the same form. */
import {
  type ActionsSdl,
  CUSTOM_TYPE_CATEGORIES,
  EngineError,
  lossesInSdl,
  type MetadataObject,
  objectKey,
  printActionsSdl,
  readActionsSdl,
  type Static,
  Type,
} from '@pergola/engine/metadata';
import { closed, GraphqlName, keyedList, Sdl, textRecord, withDescription } from './annotate.ts';
import { pascalCase } from './enumeration.ts';
import { kindRow, type ResourceDraft, SpecProblem, specOf } from './kind.ts';
import { inForm, required } from './mapping.ts';
import { describedItem, NO_SECRETS, written } from './projection.ts';
import { sourceField, tableFields } from './table-name.ts';

const TypeRelationship = closed({
  typeName: required(
    'The object type that the relationship begins at. spec.sdl declares it.',
    GraphqlName,
    null,
  ),
  name: required('The name of the field that the type gets.', GraphqlName),
  type: required(
    'Object: the field has one row or null. Array: it has a list of rows.',
    inForm(Type.Union([Type.Literal('Object'), Type.Literal('Array')]), {
      write: (type: string) => type.toLowerCase(),
      read: pascalCase,
    }),
  ),
  source: sourceField('the table', 'source', false),
  ...tableFields('The table that the relationship refers to.', 'remote_table'),
  fieldMapping: required(
    'Which rows belong to an object: from a field of the type to the column of the table with the same value, for example {authorId: id}.',
    textRecord(),
  ),
});

export const TypeRelationships = withDescription(
  'Relationships from object types to tables.',
  keyedList(['typeName', 'name'], TypeRelationship, 500),
);
type TypeRelationships = Static<typeof TypeRelationships>;

export const CustomTypesSpec = specOf({
  sdl: required(
    'Scalars, enums, inputs and object types in the GraphQL schema language, for example `scalar Money`.',
    Sdl,
  ),
  relationships: Type.Optional(TypeRelationships),
});

export const customTypes = kindRow({
  kind: 'CustomTypes',
  plural: 'customtypes',
  shortNames: ['gqlct'],
  concerns: 'object',
  description: 'Types that actions take and return.',
  spec: CustomTypesSpec,
  selectableFields: ['.spec.engineRef.name'],
  target: (spec) => `types ${namesIn(spec.sdl)}`,
  translate: (spec) => {
    const { actions, types } = readSdl(spec.sdl);
    if (actions.length > 0) {
      throw new SpecProblem(
        'InvalidSpec',
        'spec.sdl: Query and Mutation belong into an Action, types into CustomTypes; move the fields there',
      );
    }
    return typeObjects(types, spec.relationships);
  },
  describe: (inventory) => describeTypes(inventory.all('custom_type')),
});

/** The most names in the column Target. */
const MOST_CHARACTERS = 200;

function namesIn(sdl: string): string {
  const names = [...sdl.matchAll(/\b(?:scalar|enum|input|type)\s+(\w+)/g)].map(([, name]) => name);
  const text = names.join(', ');
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}

/** Throws SpecProblem for text that is not the SDL of actions and types, and for parts that the metadata cannot express. */
export function readSdl(sdl: string): ActionsSdl {
  try {
    const read = readActionsSdl(sdl);
    const losses = lossesInSdl(sdl);
    if (losses.length === 0) return read;
    const text = losses.map((loss) => `${loss} has no effect; remove it`).join('; ');
    throw new SpecProblem('InvalidSpec', `spec.sdl: ${text}`);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    throw new SpecProblem('InvalidSpec', `spec.sdl: ${error.messageIn('newer')}`);
  }
}

/** Throws SpecProblem for a relationship of a type that is not here. */
export function typeObjects(
  types: ActionsSdl['types'],
  relationships: TypeRelationships = [],
): readonly MetadataObject[] {
  const objects = new Set(
    types.filter(({ category }) => category === 'objects').map(({ type }) => type.name),
  );
  const stray = relationships.find(({ typeName }) => !objects.has(typeName));
  if (stray) {
    const { typeName, name } = stray;
    throw new SpecProblem(
      'InvalidSpec',
      `spec.relationships: ${name} begins at ${typeName}, which spec.sdl does not declare as a type; add it there`,
    );
  }
  return types.map(({ category, type }) => {
    const own = relationships.filter(({ typeName }) => typeName === type.name);
    const said = own.map((relationship) => written(TypeRelationship, relationship, NO_SECRETS));
    return {
      key: objectKey('custom_type', type.name),
      kind: 'custom_type',
      parent: null,
      definition: {
        category,
        definition: { ...type, ...(said.length > 0 ? { relationships: said } : {}) },
      },
    };
  });
}

type CustomType = {
  readonly category: (typeof CUSTOM_TYPE_CATEGORIES)[number];
  readonly definition: { readonly name: string; readonly relationships?: readonly object[] };
};

function describeTypes(objects: readonly MetadataObject[]): readonly ResourceDraft[] {
  if (objects.length === 0) return [];
  const types = objects.map(({ definition }) => definition as CustomType);
  const byCategory = CUSTOM_TYPE_CATEGORIES.map((category) => [
    category,
    types.filter((type) => type.category === category).map(({ definition }) => definition),
  ]);
  const relationships = types.flatMap(({ definition: { name: typeName, relationships: own = [] } }) =>
    own.map((definition) => ({ typeName, ...describedItem(TypeRelationship, definition) })),
  );
  const sdl = printActionsSdl({ custom_types: Object.fromEntries(byCategory) });
  return [{ name: 'types', spec: { sdl, ...(relationships.length > 0 ? { relationships } : {}) } }];
}
