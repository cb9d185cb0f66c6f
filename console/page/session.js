/** The settings of this engine, and what the page keeps: role and headers for this tab only (sessionStorage), queries without their headers
 *  for the next visit (localStorage).
 *  Not here: the credentials (credentials.js), what is sent (requests.js). */
import { useState } from 'react';

/** The address of /console/, and the path of the page below it when it was loaded. */
export const ROOT = new URL(document.querySelector('meta[name=root]').content, location.href);
export const PATH = location.pathname.slice(ROOT.pathname.length);

/** The prefix of the engine's headers and session variables. */
export const PREFIX = document.querySelector('meta[name=header-prefix]').content;

/** The role of requests without credentials; empty when the engine refuses them. */
export const UNAUTHORIZED_ROLE = document.querySelector('meta[name=unauthorized-role]').content;

/** True when nothing on the pages may change anything. */
export const IS_READ_ONLY = document.querySelector('meta[name=console-mode]').content !== 'edit';

/** The address of a form that creates a file, with `{name}` and `{text}`; empty when the engine has none. */
export const NEW_FILE_URL = document.querySelector('meta[name=new-file-url]').content;

export const KEYS = {
  role: 'pergola-role',
  variables: 'pergola-session-variables',
  /** The example that was written into the editor. */
  example: 'pergola-example',
};

const HEADERS_KEY = 'graphiql:headers';

/** Returns a text that survives a reload of this tab and nothing more, and its setter. */
export function useKept(key) {
  const [value, setValue] = useState(sessionStorage.getItem(key) ?? '');
  const keep = (next) => {
    sessionStorage.setItem(key, next);
    setValue(next);
  };
  return [value, keep];
}

/** Returns the headers that the editor had at the last change; none when they are no JSON. */
export function keptHeaders() {
  try {
    return JSON.parse(sessionStorage.getItem(HEADERS_KEY) || '{}');
  } catch {
    return {};
  }
}

/** The storage of GraphiQL. Headers may hold secrets. */
export const storage = {
  getItem: (key) => sessionStorage.getItem(key) ?? localStorage.getItem(key),
  setItem: (key, value) => {
    sessionStorage.setItem(key, value);
    if (key !== HEADERS_KEY) localStorage.setItem(key, withoutHeaders(value));
  },
  removeItem: (key) => {
    for (const each of [sessionStorage, localStorage]) each.removeItem(key);
  },
  get length() {
    return localStorage.length;
  },
  clear: () => {
    for (const each of [sessionStorage, localStorage]) {
      for (const key of Object.keys(each)) if (key.startsWith('graphiql:')) each.removeItem(key);
    }
  },
};

/** Returns a value of GraphiQL without the headers of its tabs or of its history, which are JSON; other values as they are. */
function withoutHeaders(value) {
  try {
    return JSON.stringify(JSON.parse(value), (key, part) => (key === 'headers' ? null : part));
  } catch {
    return value;
  }
}
