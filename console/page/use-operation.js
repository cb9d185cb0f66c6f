/** An admin operation as the state of a component. Not here: sending it (requests.js). */
import { useEffect, useState } from 'react';
import { perform } from './requests.js';

const NOTHING = { answer: null, problem: '' };

/** Returns `{answer, problem}` of an operation, again when its arguments change; neither while the engine has not answered. Without
 *  arguments (null), nothing is sent. `args` is JSON text, so that equal arguments are the same. */
export function useOperation(session, type, args) {
  const [state, setState] = useState({ ...NOTHING, args: null });
  useEffect(() => {
    if (args === null) return undefined;
    let isCurrent = true;
    const show = (next) => isCurrent && setState({ ...NOTHING, args, ...next });
    perform(session, type, JSON.parse(args)).then(
      (answer) => show({ answer }),
      ({ message }) => show({ problem: message }),
    );
    return () => {
      isCurrent = false;
    };
  }, [session, type, args]);
  return state.args === args ? state : NOTHING;
}
