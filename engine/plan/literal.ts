/** GraphQL literals as the values they stand for, for defaults, JSON literals, webhooks and remote schemas.
 *  In: a literal and a function that returns values of variables. Out: a JSON value whose numbers keep all digits. */

import { Kind, type ValueNode } from 'graphql';
import { numberFrom } from '../json/number.ts';

/** The values of a request's variables, by name. */
export type Variables = Readonly<Record<string, unknown>>;

/** Returns the value of a literal. A variable without a value is undefined: object members are left out, list items are null.
 *  Without `variable`, which returns the value of a variable, variables are null. */
export function literalValue(node: ValueNode, variable: (name: string) => unknown = () => null): unknown {
  switch (node.kind) {
    case Kind.VARIABLE:
      return variable(node.name.value);
    case Kind.LIST:
      return node.values.map((item) => literalValue(item, variable) ?? null);
    case Kind.OBJECT:
      return Object.fromEntries(
        node.fields.flatMap(({ name, value }) => {
          const member = literalValue(value, variable);
          return member === undefined ? [] : [[name.value, member]];
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
