/** A GraphQL query as the state of a component. It ends when another one begins, when the user cancels it, or when it takes too long: the engine cancels the
 *  statement of a client that hangs up. Not here: sending it (requests.js). */
import { useCallback, useEffect, useRef, useState } from 'react';
import { queryData } from './requests.js';

/** The longest time of a query of the page. */
const MOST_MS = 60_000;

const NOTHING = { data: null, problem: '', isRunning: false, tookMs: null };

/** Returns `{data, problem, isRunning, tookMs, cancel}`. `question` is JSON text, so that equal questions are the same; null sends nothing. */
export function useQuery(session, headers, question) {
  const [state, setState] = useState(NOTHING);
  const running = useRef(null);
  const run = useCallback(() => {
    running.current?.abort();
    if (question === null || !headers) return;
    const controller = new AbortController();
    running.current = controller;
    const startedAt = performance.now();
    const show = (next) =>
      running.current === controller && setState({ ...NOTHING, question, headers, ...next });
    show({ isRunning: true });
    const signal = AbortSignal.any([controller.signal, AbortSignal.timeout(MOST_MS)]);
    queryData(headers, session, question, signal).then(
      (data) => show({ data, tookMs: Math.round(performance.now() - startedAt) }),
      ({ name, message, isOutdated }) =>
        show({ problem: PROBLEMS[name] ?? (isOutdated ? OUTDATED(message) : message) }),
    );
  }, [session, headers, question]);
  useEffect(() => {
    run();
    return () => running.current?.abort();
  }, [run]);
  const cancel = () => running.current?.abort();
  // Rows of another role are not shown, not even until the next answer.
  const isCurrent = question !== null && state.question === question && state.headers === headers;
  return { ...(isCurrent ? state : { ...NOTHING, isRunning: question !== null }), cancel };
}

const OUTDATED = (message) =>
  `The table, or what the role may read of it, has changed since the page read it (${message}). Run again to read it anew.`;
const PROBLEMS = { AbortError: 'Cancelled.', TimeoutError: `Stopped after ${MOST_MS / 1000} seconds.` };
