/** Counts the errors that a process constructs, in `globalThis.constructedErrors`. An error captures a stack trace, which costs more than
 *  most of a request's steps and leaves no other trace. Loaded by `--import` before the modules that extend Error. Not here: errors of
 *  Node itself and of V8, which do not use these globals. */

const counter = globalThis as unknown as Record<string, unknown> & { constructedErrors: number };
counter.constructedErrors = 0;
for (const original of [Error, TypeError, RangeError, SyntaxError, AggregateError]) {
  const construct = (target: typeof original, args: unknown[], derived: unknown) => {
    counter.constructedErrors++;
    return Reflect.construct(target, args, derived as typeof original) as object;
  };
  counter[original.name] = new Proxy<typeof original>(original, {
    construct,
    apply: (target, _, args) => construct(target, args, target),
  } as ProxyHandler<typeof original>);
}
