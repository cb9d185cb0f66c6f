/** Schemas of arguments that operations of several groups have.
 *  Not here: the objects of the metadata (schema/). */

import { Comment } from '../schema/common.ts';
import { Count } from '../schema/number.ts';
import { Type } from '../schema/type.ts';

export const flag = Type.Optional(Type.Boolean());

export const values = Type.Optional(Type.Record(Type.String(), Type.Unknown()));

export const comment = Type.Optional(Comment);

/** The id of an event. One that is no UUID is of no event. */
export const EventId = Type.String();

export const page = {
  limit: Type.Optional(Count),
  offset: Type.Optional(Count),
};
