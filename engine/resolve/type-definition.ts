/** The definition of a GraphQL type as far as it matters when two types have one name: kinds, fields, types, arguments, defaults,
 *  members and values. Descriptions and order make no difference. Not here: conflicts (conflicts.ts), the engine's own types
 *  (schema/definitions.ts). */

/** A text that is equal for equal definitions. */
export type TypeDefinition = string;

type DefinedInput = { readonly name: string; readonly type: string; readonly default: string | null };

type Parts = {
  readonly fields?: readonly (Pick<DefinedInput, 'name' | 'type'> & {
    readonly arguments?: readonly DefinedInput[];
    readonly default?: string | null;
  })[];
  readonly interfaces?: readonly string[];
  readonly members?: readonly string[];
  readonly values?: readonly string[];
};

export function typeDefinition(
  kind: 'object' | 'interface' | 'union' | 'enum' | 'input',
  { fields = [], interfaces = [], members = [], values = [] }: Parts,
): TypeDefinition {
  const lines = fields.map((field) =>
    JSON.stringify([
      field.name,
      field.type,
      field.default ?? null,
      sorted((field.arguments ?? []).map(lineOf)),
    ]),
  );
  return JSON.stringify([kind, sorted(lines), sorted(interfaces), sorted(members), sorted(values)]);
}

/** True for the definition of an input object. */
export function isInputDefinition(definition: TypeDefinition): boolean {
  return definition.startsWith('["input",');
}

const lineOf = (input: DefinedInput) => JSON.stringify([input.name, input.type, input.default]);

const sorted = (lines: readonly string[]) => [...lines].sort();
