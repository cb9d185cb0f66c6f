/** The answer of an operation of the admin API that a page shows. Not here: the request (requests.js). */
import { useCallback, useEffect, useState } from 'react';
import { perform } from './requests.js';

/** Performs an operation when the page opens, when its arguments change, and when `read` is called. Returns `{answer, problem, isReading, read}`;
 *  the previous answer stays until the next one. With `isWanted` false it waits for `read`. */
export function useAnswer(session, type, args = {}, isWanted = true) {
  const [state, setState] = useState({ answer: null, problem: '', isReading: false });
  const text = JSON.stringify(args);
  const read = useCallback(() => {
    let isCurrent = true;
    const show = (next) => isCurrent && setState((before) => ({ ...before, isReading: false, ...next }));
    setState((before) => ({ ...before, isReading: true }));
    perform(session, type, JSON.parse(text)).then(
      (answer) => show({ answer, problem: '' }),
      ({ message }) => show({ problem: message }),
    );
    return () => {
      isCurrent = false;
    };
  }, [session, type, text]);
  useEffect(() => (isWanted ? read() : undefined), [read, isWanted]);
  return { ...state, read };
}
