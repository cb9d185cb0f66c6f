/** Finds the parts of an SDL text that the metadata of actions and custom types cannot express: default values, interfaces, and directives
 *  other than `@deprecated` of an enum value. Without a report, the resource would be Ready without them.
 *  In: SDL. Out: a phrase for each. Pure. Not here: actions and types (actions-sdl.ts). */
// Not from 'graphql': the operator loads this file, and needs none of the 140 modules that execute requests.
import { type ASTNode, type ConstDirectiveNode, Kind, print } from 'graphql/language';
import { isRecord } from '../json/value.ts';
import { parseGraphql } from './graphql-syntax.ts';

/** Returns the parts without effect, such as `the default value 5 of login.attempts`; none for text that is not GraphQL. */
export function lossesInSdl(sdl: string): readonly string[] {
  const parsed = parseGraphql(sdl);
  return 'problem' in parsed ? [] : parsed.document.definitions.flatMap((node) => lossesIn(node, []));
}

/** `above` are the names of the definitions around the node, outermost first. */
function lossesIn(node: ASTNode, above: readonly string[]): readonly string[] {
  const name = 'name' in node && node.name && 'value' in node.name ? node.name.value : undefined;
  const path = name === undefined ? above : [...above, name];
  const at = path.join('.');
  const own = [
    ...('defaultValue' in node && node.defaultValue
      ? [`the default value ${print(node.defaultValue)} of ${at}`]
      : []),
    ...('interfaces' in node ? (node.interfaces ?? []) : []).map(
      (type) => `the interface ${type.name.value} of ${at}`,
    ),
    ...directivesOf(node)
      .filter((directive) => !isKept(directive, node))
      .map((directive) => `@${directive.name.value} at ${at}`),
  ];
  return [...own, ...childrenOf(node).flatMap((child) => lossesIn(child, path))];
}

function isKept({ name }: ConstDirectiveNode, { kind }: ASTNode): boolean {
  return kind === Kind.ENUM_VALUE_DEFINITION && name.value === 'deprecated';
}

function directivesOf(node: ASTNode): readonly ConstDirectiveNode[] {
  return 'directives' in node ? ((node.directives ?? []) as readonly ConstDirectiveNode[]) : [];
}

/** Returns the fields, arguments and enum values of a definition. */
function childrenOf(node: ASTNode): readonly ASTNode[] {
  if (!isRecord(node)) return [];
  return ['fields', 'arguments', 'values'].flatMap((key) => (node[key] ?? []) as readonly ASTNode[]);
}
