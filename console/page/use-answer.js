/** The answer of an operation of the admin API, as the state of a component. Not here: the request (requests.js). */
import { useCallback, useEffect, useState } from 'react';
import { parseWithAllDigits } from './digits.js';
import { perform } from './requests.js';

const NOTHING = { answer: null, problem: '', isReading: false };

/** Performs an operation when the component appears, when its arguments change, and when `read` is called. Returns `{answer, problem, isReading, read}`; the
 *  previous answer stays until the next one to the same arguments. Without arguments (null), nothing is sent. */
export function useAnswer(session, type, args = {}) {
  const [state, setState] = useState(NOTHING);
  const text = JSON.stringify(args);
  const read = useCallback(() => {
    let isCurrent = true;
    const show = (next) =>
      isCurrent &&
      setState((before) => ({
        ...(before.text === text ? before : NOTHING),
        text,
        isReading: false,
        ...next,
      }));
    show({ isReading: true });
    perform(session, type, parseWithAllDigits(text)).then(
      (answer) => show({ answer, problem: '' }),
      ({ message }) => show({ problem: message }),
    );
    return () => {
      isCurrent = false;
    };
  }, [session, type, text]);
  useEffect(() => (text === 'null' ? undefined : read()), [read, text]);
  return { ...(state.text === text ? state : NOTHING), read };
}
