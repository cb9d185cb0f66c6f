/** The PermissionTests on the page Access: how much they cover, which of them fail, and those of one operation. In: `get_permission_tests`, which runs
 *  no statement. Not here: the words (test-words.js), all tests with their results (ownership-tests.jsx). */
import { dayAndTime } from './chart.jsx';
import { isFailed, RESULTS, resultsInWords } from './test-words.js';

/** The most failing tests that are listed. */
const MOST_LISTED = 20;

/** The reason why no test is listed. */
export const NO_TESTS = (
  <>
    No result of a PermissionTest is known here. An operator records them; <code>pergola test</code> prints
    its own report.
  </>
);

/** What is known of tests, above the table. */
export function TestsSummary({ answer: { tests, permissions } }) {
  if (tests.length === 0) return <p className="faint">{NO_TESTS}</p>;
  const failed = tests.filter(isFailed);
  return (
    <>
      <p>
        {permissions.tested} of {permissions.count} permissions of tables have a test. {resultsInWords(tests)}
        .
      </p>
      {failed.length > 0 && (
        <ul className="failing" aria-label="Failing tests">
          {failed.slice(0, MOST_LISTED).map((test) => (
            <li key={test.resource}>
              <TestLine test={test} />
            </li>
          ))}
          {failed.length > MOST_LISTED && <li>and {failed.length - MOST_LISTED} more</li>}
        </ul>
      )}
    </>
  );
}

/** The tests of a cell in a few words. */
export function CellTests({ tests }) {
  const text = resultsInWords(tests);
  return <div className={tests.some(isFailed) ? 'tests problem' : 'tests'}>{text}</div>;
}

/** A test with its last result, and a link to it on Ownership. */
export function TestLine({ test: { resource, role, reason, message, since } }) {
  return (
    <>
      <a href={`ownership?${new URLSearchParams({ view: 'tests', find: resource })}`}>{resource}</a> as {role}
      :{' '}
      <strong className={reason === 'TestFailed' ? 'problem' : undefined}>{RESULTS[reason] ?? reason}</strong>
      <span className="faint"> since {dayAndTime(since)}</span>
      {reason !== 'TestPassed' && `: ${message}`}
    </>
  );
}
