/** What changes of one object, line by line, with the resource that owns it.
 *  In: a change in the form of `compare_metadata_revisions`. Not here: the difference of texts (differences.js). */
import { differences } from './differences.js';
import { printedKey } from './object-key.js';
import './object-change.css';

const MARKS = { same: ' ', removed: '-', added: '+', skipped: ' ' };

export function ObjectChange({ of: { key: name, change, owner, before, after, is_hidden: isHidden } }) {
  const lines = differences(textOf(before), textOf(after));
  return (
    <div className="object-change">
      <h3>
        {printedKey(name)} <span className={`verb ${change}`}>{change}</span>
      </h3>
      {owner && <p className="faint">owned by {owner}</p>}
      {isHidden ? (
        <p>Only a secret changed, which is not shown.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable
        <section className="scrolling difference" tabIndex={0} aria-label={`Difference of ${name}`}>
          <pre>
            {lines.map(({ kind, text }, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity
              <span key={i} className={kind}>
                {`${MARKS[kind]} ${text}\n`}
              </span>
            ))}
          </pre>
        </section>
      )}
    </div>
  );
}

function textOf(definition) {
  return definition === undefined ? '' : JSON.stringify(definition, null, 2);
}
