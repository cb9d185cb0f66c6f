/** What a client wrote, as the value it stands for: for webhooks, which are told of arguments and not of plans.
 *  In: a literal × the request's variables. Out: JSON, digits and all. */

import { Kind, type ValueNode } from 'graphql';
import { numberFrom } from '../json/number.ts';
import type { Variables } from './bind.ts';

/** A literal with its variables filled in, digits and all; undefined for a variable that was not given. */
export function written(node: ValueNode, variables: Variables): unknown {
  switch (node.kind) {
    case Kind.VARIABLE:
      return variables[node.name.value];
    case Kind.LIST:
      return node.values.map((item) => written(item, variables) ?? null);
    case Kind.OBJECT:
      return Object.fromEntries(
        node.fields.flatMap(({ name, value }) => {
          const filled = written(value, variables);
          return filled === undefined ? [] : [[name.value, filled]];
        }),
      );
    case Kind.INT:
    case Kind.FLOAT:
      return numberFrom(node.value);
    case Kind.NULL:
      return null;
    default:
      return node.value;
  }
}
