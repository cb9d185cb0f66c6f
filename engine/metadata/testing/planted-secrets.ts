/** Documents with a text of its own wherever a schema says that a secret may stand. Pure. Not here: what must not show them (the tests). */
import { FULL } from '../../../testing/metadata-variants.ts';
import { isRecord } from '../../json/value.ts';
import { SECRET_MARK } from '../schema/marks.ts';
import { Metadata } from '../schema/metadata.ts';
import { Marks, walkMarks } from '../walk-marks.ts';
import { asJsonSchema } from '../walk-schema.ts';

/** The forms in which people write secrets: alone, and in the parts of a URL, a header and a template. */
export const SECRETS = [
  (secret: string) => secret,
  (secret: string) => `https://example.test/services/${secret}`,
  (secret: string) => `https://example.test?key=${secret}#${secret}`,
  (secret: string) => `https://${secret}:${secret}@example.test/`,
  (secret: string) => `{{BASE}}/${secret}`,
  (secret: string) => `Bearer ${secret} "quoted"\nand more`,
];

export type PlantedDocument = {
  readonly document: unknown;
  readonly secrets: readonly string[];
  /** The texts that contain them. */
  readonly texts: readonly string[];
};

const MARKS = new Marks<true>(SECRET_MARK);

/** Returns the document, the one with every optional member by default, with secrets in it. */
export function plantedDocument(
  document: unknown = FULL,
  form: (secret: string) => string = (secret) => secret,
): PlantedDocument {
  const secrets: string[] = [];
  const texts: string[] = [];
  const plant = (value: unknown): unknown => {
    if (typeof value === 'string') {
      secrets.push(`Secret${secrets.length}x`);
      texts.push(form(secrets.at(-1)!));
      return texts.at(-1);
    }
    if (Array.isArray(value)) return value.map(plant);
    if (isRecord(value))
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plant(each)]));
    return value === null ? null : plant('');
  };
  // A text outside of a path such as `{field: {arguments}}` would not parse.
  const visit = (_: true, value: unknown) =>
    isRecord(value) && Object.keys(value).length === 0
      ? { field: { arguments: { key: plant('') } } }
      : plant(value);
  return {
    document: walkMarks(asJsonSchema(Metadata), document, { marks: MARKS, visit }, undefined),
    secrets,
    texts,
  };
}
