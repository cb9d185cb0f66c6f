/** The settings of this engine, and what the page keeps: role and headers for this tab only (sessionStorage), queries without their headers
 *  for the next visit (localStorage). The tabs of GraphiQL are stored at each change, and what it stores twice is read from them: it stores each
 *  part at another time, and adds a tab when they differ.
 *  Not here: the credentials (credentials.js), what is sent (requests.js). */
import { useCallback, useState } from 'react';
import { tryParseJSONC } from './jsonc.js';

/** The address of /console/, and the path of the page below it when it was loaded. */
export const ROOT = new URL(document.querySelector('meta[name=root]').content, location.href);
export const PATH = location.pathname.slice(ROOT.pathname.length);

/** The prefix of the engine's headers and session variables. */
export const PREFIX = document.querySelector('meta[name=header-prefix]').content;

/** The role of requests without credentials; empty when the engine refuses them. */
export const UNAUTHORIZED_ROLE = document.querySelector('meta[name=unauthorized-role]').content;

/** True when nothing on the pages may change anything. */
export const IS_READ_ONLY = document.querySelector('meta[name=console-mode]').content !== 'edit';

/** True when a request without credentials cannot be an administrator's, so that nothing has to be asked before somebody signs in. */
export const KNOWS_NOBODY = document.querySelector('meta[name=knows-nobody]').content === 'true';

/** The address of a form that creates a file, with `{name}` and `{text}`; empty when the engine has none. */
export const NEW_FILE_URL = document.querySelector('meta[name=new-file-url]').content;

export const KEYS = {
  role: 'pergola-role',
  variables: 'pergola-session-variables',
  /** The example that was written into the editor, which like queries is kept for the next visit. */
  example: 'pergola-example',
};

const TABS_KEY = 'graphiql:tabState';
const HEADERS_KEY = 'graphiql:headers';
/** The members of the open tab that GraphiQL stores under keys of their own, too. */
const MEMBERS = { 'graphiql:query': 'query', 'graphiql:variables': 'variables', [HEADERS_KEY]: 'headers' };

/** Returns the role that the address names; null when it names none. */
export function roleInAddress() {
  return new URLSearchParams(location.search).get('role');
}

/** Returns a text that survives a reload of this tab and nothing more, and its setter. A text that is not valid does not survive. */
export function useKept(key, isValid = () => true) {
  const [value, setValue] = useState(sessionStorage.getItem(key) ?? '');
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key of a field and its rule never change
  const keep = useCallback((next) => {
    if (isValid(next)) sessionStorage.setItem(key, next);
    setValue(next);
  }, []);
  return [value, keep];
}

/** Returns the headers that the editor had at the last change; none when they are no JSON. */
export function keptHeaders() {
  try {
    return tryParseJSONC(storage.getItem(HEADERS_KEY) ?? '') ?? {};
  } catch {
    return {};
  }
}

/** Stores the tabs of GraphiQL without their results. */
export function keepTabs({ tabs, activeTabIndex }) {
  const stored = { activeTabIndex, tabs: tabs.map((tab) => ({ ...tab, hash: null, response: null })) };
  keep(TABS_KEY, JSON.stringify(stored));
}

/** The storage of GraphiQL. Headers may hold secrets. */
export const storage = {
  getItem: (key) => {
    if (key in MEMBERS) return openTab()?.[MEMBERS[key]] ?? null;
    return sessionStorage.getItem(key) ?? localStorage.getItem(key);
  },
  setItem: (key, value) => {
    if (key !== TABS_KEY && !(key in MEMBERS)) keep(key, value);
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

function keep(key, value) {
  sessionStorage.setItem(key, value);
  localStorage.setItem(key, withoutHeaders(value));
}

/** Returns the tab that is open, as it is stored. */
function openTab() {
  try {
    const { tabs, activeTabIndex } = JSON.parse(storage.getItem(TABS_KEY));
    return tabs[activeTabIndex];
  } catch {
    return undefined;
  }
}

/** Returns a value of GraphiQL without the headers of its tabs or of its history, which are JSON; other values as they are. */
function withoutHeaders(value) {
  try {
    return JSON.stringify(JSON.parse(value), (key, part) => (key === 'headers' ? null : part));
  } catch {
    return value;
  }
}
