/** A request of a role that can be run on any database of its world. Made by ways.ts and write-ways.ts. */
import type { Databases } from '../../database/databases.ts';
import type { Model } from '../../resolve/model/model.ts';
import type { Session } from '../../resolve/session.ts';

/** A database of the world, and whose request it is. */
export type Side = { readonly model: Model; readonly databases: Databases; readonly session: Session };

/** A request: what to say of it, and its answer, in which what has no order is sorted. */
export type Asked = { readonly text: string; readonly run: (side: Side) => Promise<unknown> };
