/** Comments that say in Postgres's own logs and statistics which request a statement is of: the source's `query_tags`.
 *  What they say is names of GraphQL and a digest, never a value, and is the same at every request of the text: a statement
 *  stays prepared. Not here: the settings (metadata/schema/source.ts). Reference: docs/reference/behaviour/queries.md; sqlcommenter. */
import type { QueryTags } from '../metadata/schema/source.ts';

export type QueryTag = {
  /** Response names of the root fields the statement answers. */
  readonly fields: readonly string[];
  /** Null of an operation without a name. */
  readonly operation: string | null;
  /** Of the request's text. */
  readonly digest: string;
};

/** The statement's text with its comment. */
export function tagged(text: string, tags: QueryTags, tag: QueryTag): string {
  const attributes = attributesOf(tag);
  for (const [, value] of attributes) {
    // What could end a comment is no name.
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

/** In the order sqlcommenter asks for. */
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
