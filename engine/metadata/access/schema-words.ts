/** The schema of a permission of a remote schema in words: the fields, arguments and values that the schema before or after does not have, on
 *  one line: `User.email: String`. Pure. Not here: whether the remote schema has them (resolve/remote-permission.ts). */
import { type DefinitionNode, Kind, parse, print } from 'graphql/language';

/** Returns what the schema has and the other has not; all of it when there is no other; `none` for nothing. */
export function wordsOfSchema(schema: unknown, other: unknown): string {
  const [own, others] = [new Set(membersOf(schema)), new Set(membersOf(other))];
  const added = [...own].filter((member) => !others.has(member));
  // The texts differ only in their order or their space.
  const isSame = added.length === 0 && own.size === others.size;
  return (isSame ? [...own] : added).join(', ') || 'none';
}

/** Returns the members of all types. A text that is no SDL is one member. */
function membersOf(schema: unknown): readonly string[] {
  if (typeof schema !== 'string') return [];
  try {
    return parse(schema, { noLocation: true }).definitions.flatMap(membersIn);
  } catch {
    return [onOneLine(schema)];
  }
}

function membersIn(definition: DefinitionNode): readonly string[] {
  switch (definition.kind) {
    case Kind.OBJECT_TYPE_DEFINITION:
    case Kind.INTERFACE_TYPE_DEFINITION:
    case Kind.INPUT_OBJECT_TYPE_DEFINITION: {
      const { name, fields = [], ...rest } = definition;
      const members = fields.map((field) => `${name.value}.${printed(field)}`);
      const hasHead =
        fields.length === 0 || Object.values(rest).some((part) => Array.isArray(part) && part.length > 0);
      return hasHead ? [printed({ ...definition, fields: [] }), ...members] : members;
    }
    case Kind.ENUM_TYPE_DEFINITION:
      return (definition.values ?? []).map((value) => `${definition.name.value}.${printed(value)}`);
    default:
      return [printed(definition)];
  }
}

/** Returns a node as SDL without its description. */
function printed(node: Parameters<typeof print>[0]): string {
  return onOneLine(print({ ...node, description: undefined } as typeof node));
}

function onOneLine(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}
