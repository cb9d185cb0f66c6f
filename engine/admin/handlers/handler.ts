/** What a handler is: one operation as a function from document to document. Pure: no database, no clock.
 *  What only a database knows (does the column exist, is there a foreign key) is found afterwards, by resolve.
 *  Not here: which operations there are (metadata/operations.ts), who calls a handler (admin/perform.ts). */
import type { Links } from '../../metadata/dependencies.ts';
import type { ArgsOf, EditOperation } from '../../metadata/operations.ts';
import type { Metadata } from '../../metadata/schema/metadata.ts';

/** `links` says where a relationship over a foreign key leads; without it such relationships count as leading nowhere.
 *  Errors have paths relative to the arguments. */
export type Handler<N extends EditOperation> = (draft: Metadata, args: ArgsOf<N>, links?: Links) => Metadata;
