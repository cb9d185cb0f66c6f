/** The YAML of metadata: values of JSON, with the text of every number that JSON has (json/number.ts).
 *  Pure. Not here: the files (directory.ts), `!include` (read-directory.ts).
 *  YAML 1.2.2, "Core Schema"; js-yaml, "Tags". */
import {
  CORE_SCHEMA,
  DEFAULT_SCALAR_STYLE_RULES,
  DUMP_SCHEMA,
  type DumpOptions,
  dump,
  floatCoreTag,
  intCoreTag,
  mergeTag,
  SCALAR_STYLE,
  type ScalarTagDefinition,
} from 'js-yaml';
import { isRawNumber, numberFrom } from '../json/number.ts';

const int = withText(intCoreTag, /^-?(0|[1-9]\d*)$/);
const float = withText(floatCoreTag, /^-?(0|[1-9]\d*)(?=[.eE])(\.\d+)?([eE][+-]?\d+)?$/);

/** The schema that files are read with. */
export const YAML_SCHEMA = CORE_SCHEMA.withTags(mergeTag, int, float);

/** The schema that files are printed with. Texts that other versions of YAML would read differently are quoted. */
const PRINTED_SCHEMA = DUMP_SCHEMA.withTags(int, float);

/** Prints a value as YAML, with each text on one line. */
export function printYaml(value: unknown): string {
  return dump(value, { schema: PRINTED_SCHEMA, lineWidth: -1, noRefs: true });
}

/** Prints a value as the command line of the reference does: a text that is not a plain scalar has double quotes where it would be another
 *  type or has a line that ends with a space, and single quotes otherwise. `isDouble` says which texts always have double quotes. */
export function printYamlFile(value: unknown, isDouble: (text: string) => boolean): string {
  const scalarStyleRules: DumpOptions['scalarStyleRules'] = [
    (layout) => {
      const { value: text, tagged } = layout.node;
      const { tag } = layout.presenterOptions.schema.resolveImplicitScalarTag(text);
      const isOther = !tagged && layout.node.tag === STRING && tag.tagName !== STRING;
      if (isOther || isDouble(text) || / (\n|$)/.test(text)) layout.style = SCALAR_STYLE.DOUBLE_QUOTED;
    },
    ...Object.values(DEFAULT_SCALAR_STYLE_RULES),
  ];
  return dump(value, { schema: PRINTED_SCHEMA, lineWidth: -1, noRefs: true, scalarStyleRules });
}

const STRING = 'tag:yaml.org,2002:str';

/** True when every parser reads the text as it is, if it is a plain scalar of js-yaml: without brackets, and without an indicator of lists
 *  and mappings in front or, where a question mark is one for some parsers, anywhere. */
export function isPlainEverywhere(text: string): boolean {
  return !/^[-:]|^\.{3}|[?,[\]{}]/.test(text);
}

/** Returns a tag whose numbers keep their text. `form` matches numbers of JSON; others (0x1F, .5) are converted. */
function withText(tag: ScalarTagDefinition<number>, form: RegExp): ScalarTagDefinition {
  return {
    ...tag,
    resolve: (source, ...rest) => (form.test(source) ? numberFrom(source) : tag.resolve(source, ...rest)),
    identify: (value) => (isRawNumber(value) ? form.test(value.rawJSON) : tag.identify(value)),
    represent: (value) => (isRawNumber(value) ? value.rawJSON : tag.represent(value)),
  };
}
