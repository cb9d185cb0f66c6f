/** The program that writes to the engine, as the states of `get_catalog_state` say: an operator, or `pergola up` with a folder. Pure. */

/** Returns `isOperator`, and the `folder` of `pergola up`. */
export function managerIn({ operator_state: operator, console_state: console }) {
  return { isOperator: operator?.manager !== undefined, folder: console?.pergola_up?.folder };
}

/** Returns true when resources are what writes here. */
export function hasResources({ isOperator, folder }) {
  return isOperator || folder !== undefined;
}
