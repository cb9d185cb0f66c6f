/** The fields of a remote schema that a remote relationship leads through, and the values of their arguments.
 *  Not here: how they are resolved (resolve/remote-step.ts). */

export type RemoteStep = {
  readonly field: string;
  readonly arguments: ReadonlyMap<string, StepValue>;
};

export type StepValue =
  | { readonly kind: 'literal'; readonly value: unknown }
  | { readonly kind: 'key'; readonly index: number }
  | { readonly kind: 'list'; readonly items: readonly StepValue[] }
  | { readonly kind: 'object'; readonly fields: ReadonlyMap<string, StepValue> };
