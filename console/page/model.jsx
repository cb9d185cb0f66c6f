/** The page Model: the objects of the metadata in a list, one of them in detail with a diagram of its relationships, and what is inconsistent with its
 *  cause and what to do. The address of an object is `model/` and its key, so that other programs can link to it.
 *  In: `list_objects` and `describe_object`; they run no statement in a source. */
import './model.css';
import { useEffect, useMemo, useState } from 'react';
import { ForAllRoles } from './all-roles.jsx';
import { Bar, seesAllRoles } from './bar.jsx';
import { indexOf, rowsOf } from './model-index.js';
import { ObjectList } from './model-list.jsx';
import { ObjectDetails, ObjectLink, Problems, ProblemTitle } from './model-object.jsx';
import { isPlainClick } from './plain-click.js';
import { PATH, ROOT } from './session.js';
import { useAnswer } from './use-answer.js';

const START = 'model';

export function Model({ session, onSignOut }) {
  return (
    <>
      <Bar session={session} onSignOut={onSignOut} />
      {seesAllRoles(session) ? (
        <Objects session={session} />
      ) : (
        <main className="access">
          <h1>Model</h1>
          <ForAllRoles />
        </main>
      )}
    </>
  );
}

function Objects({ session }) {
  const { answer, problem } = useAnswer(session, 'list_objects');
  const [key, open] = useKey();
  const [filter, setFilter] = useState({ text: '', isWithProblemOnly: false });
  const index = useMemo(() => answer && indexOf(answer), [answer]);
  const rows = useMemo(() => (index ? rowsOf(index, filter) : []), [index, filter]);
  const links = { addressOf, onOpen: (event, next) => follow(event, () => open(next)) };
  const count = rows.filter((row) => row.key).length;
  return (
    <main className="access model">
      <nav className="objects" aria-label="Objects">
        <form className="controls" onSubmit={(event) => event.preventDefault()}>
          <label>
            Find an object
            <input
              type="search"
              value={filter.text}
              onChange={(event) => setFilter({ ...filter, text: event.target.value })}
            />
          </label>
          {index && index.inconsistent.length + index.unequal.length > 0 && (
            <label className="check">
              <input
                type="checkbox"
                checked={filter.isWithProblemOnly}
                onChange={(event) => setFilter({ ...filter, isWithProblemOnly: event.target.checked })}
              />
              Only with a problem
            </label>
          )}
        </form>
        <p role="status" className={problem ? 'problem' : undefined}>
          {problem || (index ? `${count} object${count === 1 ? '' : 's'}` : 'Loading…')}
        </p>
        {index && <ObjectList rows={rows} current={key} stateOf={index.stateOf} {...links} />}
      </nav>
      <div className="object">
        {index && key !== '' && (
          <ObjectDetails key={key} session={session} index={index} objectKey={key} {...links} />
        )}
        {index && key === '' && <Overview index={index} links={links} />}
      </div>
    </main>
  );
}

/** The contents of the page before an object is opened: what is inconsistent, and the tables with the most relationships. */
function Overview({ index, links }) {
  const { inconsistent, unequal, byKey, edgesOf } = index;
  const central = [...byKey.keys()]
    .map((key) => [key, edgesOf(key).length])
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a)
    .slice(0, 12);
  return (
    <article>
      <h1>Model</h1>
      {byKey.size === 0 && <p>The metadata has no objects yet.</p>}
      {inconsistent.length === 0 ? (
        <p>Every object is consistent.</p>
      ) : (
        <>
          <p>
            {inconsistent.length === 1 ? 'One object is' : `${inconsistent.length} objects are`} inconsistent{' '}
            {servedText(inconsistent)}
          </p>
          <FirstProblems all={inconsistent} index={index} links={links} />
        </>
      )}
      {unequal.length > 0 && (
        <>
          <p>
            {unequal.length === 1
              ? 'One object does not do what it declares.'
              : `${unequal.length} objects do not do what they declare.`}
          </p>
          <FirstProblems all={unequal} index={index} links={links} />
        </>
      )}
      {central.length > 0 && (
        <section>
          <h2>Most related</h2>
          <ul className="most">
            {central.map(([key, count]) => (
              <li key={key}>
                <ObjectLink index={index} objectKey={key} {...links} />{' '}
                <span className="faint">
                  {count} relationship{count === 1 ? '' : 's'}
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </article>
  );
}

const MOST_PROBLEMS = 100;

/** Returns the end of the sentence: how much of what is inconsistent is served. */
function servedText(inconsistent) {
  const served = inconsistent.filter((found) => found.served).length;
  if (served === 0) return 'and not served.';
  if (served === inconsistent.length) return 'and served without the part that is wrong.';
  return `and not served, but for ${served}, served without the part that is wrong.`;
}

function FirstProblems({ all, index, links }) {
  return (
    <>
      <Problems
        found={all.slice(0, MOST_PROBLEMS)}
        titleOf={(found) => <ProblemTitle found={found} index={index} links={links} />}
      />
      {all.length > MOST_PROBLEMS && (
        <p>The first {MOST_PROBLEMS} are shown. The others are in the list, with “Only with a problem”.</p>
      )}
    </>
  );
}

function addressOf(key) {
  return new URL(`${START}/${key}`, ROOT).pathname;
}

/** Opens an object without loading the page again. */
function follow(event, open) {
  if (!isPlainClick(event)) return;
  event.preventDefault();
  open();
}

/** Returns the key of the address, empty for none, and a function that goes to another one. */
function useKey() {
  const [key, setKey] = useState(keyIn(PATH));
  useEffect(() => {
    const goBack = () => setKey(keyIn(location.pathname.slice(ROOT.pathname.length)));
    addEventListener('popstate', goBack);
    return () => removeEventListener('popstate', goBack);
  }, []);
  const open = (next) => {
    history.pushState(null, '', addressOf(next));
    setKey(next);
  };
  return [key, open];
}

/** Returns the key in the path of a page, with the escapes that keys have. */
function keyIn(path) {
  const segments = path
    .split('/')
    .slice(1)
    .filter((segment) => segment !== '');
  try {
    return segments.map((segment) => encodeURIComponent(decodeURIComponent(segment))).join('/');
  } catch {
    return segments.join('/');
  }
}
