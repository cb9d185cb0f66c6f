/** The document between starts: one row in the metadata database, shared by every replica. */

/** Opaque JSON of clients, kept beside the document: the command line, the console, the operator's ledger. */
export type CatalogStates = {
  readonly cli: unknown;
  readonly console: unknown;
  readonly operator: unknown;
};
