/** YAML as metadata is written in it: JSON's values, and every number JSON has with its text (json/number.ts).
 *  Pure. Not here: which files there are (directory.ts), `!include` (read-directory.ts).
 *  YAML 1.2.2, "Core Schema"; js-yaml, "Tags". */
import {
  CORE_SCHEMA,
  DUMP_SCHEMA,
  dump,
  floatCoreTag,
  intCoreTag,
  mergeTag,
  type ScalarTagDefinition,
} from 'js-yaml';
import { isRawNumber, numberFrom } from '../json/number.ts';

const int = withText(intCoreTag, /^-?(0|[1-9]\d*)$/);
const float = withText(floatCoreTag, /^-?(0|[1-9]\d*)(?=[.eE])(\.\d+)?([eE][+-]?\d+)?$/);

/** What files are read with. */
export const YAML_SCHEMA = CORE_SCHEMA.withTags(mergeTag, int, float);

/** Texts that other versions of YAML would read as something else are in quotes. */
const PRINTED_SCHEMA = DUMP_SCHEMA.withTags(int, float);

/** A line for each text, however long. */
export function printYaml(value: unknown): string {
  return dump(value, { schema: PRINTED_SCHEMA, lineWidth: -1, noRefs: true });
}

/** `form`: how JSON writes the numbers of the tag. What only YAML writes so (0x1F, .5) is what it comes to. */
function withText(tag: ScalarTagDefinition<number>, form: RegExp): ScalarTagDefinition {
  return {
    ...tag,
    resolve: (source, ...rest) => (form.test(source) ? numberFrom(source) : tag.resolve(source, ...rest)),
    identify: (value) => (isRawNumber(value) ? form.test(value.rawJSON) : tag.identify(value)),
    represent: (value) => (isRawNumber(value) ? value.rawJSON : tag.represent(value)),
  };
}
