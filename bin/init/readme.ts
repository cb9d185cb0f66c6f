/** The README that `pergola init` writes into its folder: what the files are, and what to do next. Pure. */

/** Returns the text. `role` is the role that reads everything, if there is one. */
export function readmeOf(database: string, role: string | undefined): string {
  return `# The API of the database ${database}

\`pergola init\` wrote these custom resources from the tables, keys, functions and comments of the database. They are yours now: edit them,
and keep them in version control. A second \`pergola init\` adds what is new in the database and changes no file.

| folder | content |
|---|---|
| \`tables/\`, \`views/\` | a Table per table and view: names, relationships, computed fields |
| \`functions/\` | a Function per function that returns rows of a table. Files that are comments are not part of the API: those functions may change data |
| \`permissions/\` | what a role may do, a file per role and table |
| \`.pergola-init\` | what \`pergola init\` wrote, so that it does not write again what you delete |

Comments of the database are descriptions in the API. They are above the resources for readers; \`configuration.comment\` of a Table replaces one.

## Serve it

\`pergola\` is the command of Pergola: \`npm install --global ./pergola-VERSION.tgz\` installs it from the file of a release. In a clone of its repository it is
\`bin/pergola.mjs\`.

\`\`\`sh
pergola up . --database-url "$DATABASE_URL"
\`\`\`

It prints the address of the console and an admin secret. As \`admin\` you read and write everything${
    role === undefined ? '; there is no other role yet' : `; \`${role}\` reads what \`permissions/\` lists`
  }. Save a file, and
the API changes at once.

## Add a role

${role === undefined ? ROLE_BY_INIT : ROLE_BY_HAND}

## Use it elsewhere

\`\`\`sh
pergola validate -f .                                          # without an engine, for CI
pergola plan -f . --engine https://… --admin-secret …          # what would change in an engine
pergola apply -f . --engine https://… --admin-secret …
kubectl apply --recursive -f .                                 # with the operator, in a cluster
\`\`\`
`;
}

const ROLE_BY_INIT = `Only administrators see the tables. Write permissions by hand, or let init write a role that reads everything, and narrow it:

\`\`\`sh
pergola init --database-url "$DATABASE_URL" -o . --role reader --readable
\`\`\`

\`filter\` of a permission says which rows the role reads: \`filter: { author_id: { _eq: X-Engine-User-Id } }\`.`;

const ROLE_BY_HAND = `The permissions list columns, so that a column that is added later is not readable by itself. \`filter\` says which rows the role
reads; \`{}\` means all. Narrow it: \`filter: { author_id: { _eq: X-Engine-User-Id } }\`. To add another role, copy a file.`;
