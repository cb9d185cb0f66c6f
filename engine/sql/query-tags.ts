/** SQL comments that identify the request of a statement in Postgres's logs and statistics: the source's `query_tags`. They
 *  contain GraphQL names and a digest, never a value, and are the same for every request of one text, so a statement stays
 *  prepared. Not here: the settings (metadata/schema/source.ts). Reference: docs/reference/behaviour/queries.md; sqlcommenter. */
import type { QueryTags } from '../metadata/schema/source.ts';

type QueryTag = {
  /** Response names of the root fields that the statement answers. */
  readonly fields: readonly string[];
  /** The name of the operation; null when it has none. */
  readonly operation: string | null;
  /** The digest of the request's text. */
  readonly digest: string;
};

/** Returns the text of the statement with its comment. */
export function tagged(text: string, tags: QueryTags, tag: QueryTag): string {
  const attributes = attributesOf(tag);
  for (const [, value] of attributes) {
    // Only names are allowed, so no value can end the comment.
    if (!/^[\w+-]*$/.test(value)) throw new RangeError(`not made of names: ${value}`);
  }
  switch (tags.format ?? 'standard') {
    case 'standard':
      return `${text} /* ${printed(attributes, '')} */`;
    case 'standard_prepended':
      return `/* ${printed(attributes, '')} */ ${text}`;
    case 'sqlcommenter':
      return `${text} /*${printed(attributes, "'")}*/`;
  }
}

type Attribute = readonly [name: string, value: string];

/** Returns the attributes in the order sqlcommenter requires. */
function attributesOf({ fields, operation, digest }: QueryTag): readonly Attribute[] {
  return [
    ['field_name', fields.join('+')],
    ...(operation === null ? [] : [['operation_name', operation] as const]),
    ['parameterized_query_hash', digest],
  ];
}

function printed(attributes: readonly Attribute[], quote: string): string {
  return attributes.map(([name, value]) => `${name}=${quote}${value}${quote}`).join(',');
}
