/** The commands of `pergola`, in the order of `pergola help`: the module of each, and what it does.
 *  Plain JavaScript, because pergola.mjs may be started by an older Node. */
export const COMMANDS = {
  up: ['bin/up.ts', 'run Postgres, the engine and the reconcile loop over a folder of custom resources'],
  init: ['bin/init.ts', 'write custom resources for a database that exists'],
  serve: ['engine/main.ts', 'run the engine: a GraphQL API over your Postgres'],
  operator: [
    'operator/main.ts',
    'run the operator: reconcile custom resources of a Kubernetes cluster into engines',
  ],
  plan: [
    'operator/commands/plan.ts',
    'show what custom resources would change in an engine, and for whom access changes',
  ],
  apply: ['operator/commands/apply.ts', 'apply custom resources to an engine'],
  watch: ['operator/commands/watch.ts', 'apply custom resources, and again whenever a file changes'],
  status: ['operator/commands/status.ts', 'say what is wrong in an engine now, and what to do about it'],
  validate: [
    'operator/commands/validate.ts',
    'check a folder of custom resources without an engine or a cluster',
  ],
  explain: [
    'bin/explain.ts',
    'print the documentation of a kind of custom resource, or of one of its fields',
  ],
  test: ['bin/test.ts', 'run the PermissionTests of a folder, without a cluster'],
  why: ['bin/why.ts', 'say why a role sees a row or not, or why a write is refused'],
  convert: [
    'operator/commands/convert.ts',
    'rewrite custom resources of the old form of v1alpha1 to the new form',
  ],
  migrate: ['bin/migrate.ts', 'run versioned SQL on the database of a source: create, up, status, verify'],
  rollback: [
    'bin/rollback.ts',
    'go back to an earlier version of the metadata while no engine starts on the stored one',
  ],
  export: ['bin/export.ts', 'write the metadata of an engine into a directory, or as custom resources'],
  import: ['bin/import.ts', 'load a metadata directory into an engine, or convert it to custom resources'],
  compat: [
    'bin/compat.ts',
    'say what of metadata, schemas and answers of Hasura is the same here, and what differs',
  ],
  completion: [
    'bin/completion.ts',
    'print the completion of commands and flags for a shell: bash, zsh or fish',
  ],
};
