/** The PermissionTests with their last results, as the operator has recorded them. In: `get_permission_tests`. Not here: what they cover (access-tests.jsx). */
import { NO_TESTS } from './access-tests.jsx';
import { dayAndTime } from './chart.jsx';
import { Grid } from './grid.jsx';
import { Owned } from './ownership-owned.jsx';
import { Find, isFound, NOT_FOUND } from './ownership-resources.jsx';
import { Outcome } from './problem.jsx';
import { isFailed, RESULTS } from './test-words.js';
import { useAnswer } from './use-answer.js';

export function Tests({ session, view, setView }) {
  const { answer, problem } = useAnswer(session, 'get_permission_tests');
  if (!answer) return <Outcome problem={problem} />;
  if (answer.tests.length === 0) return <p>{NO_TESTS}</p>;
  return (
    <>
      <Find view={view} setView={setView} label="Find a test" />
      <Grid
        empty={NOT_FOUND}
        label="Tests"
        rows={answer.tests.filter(({ resource }) => isFound(resource, view.find))}
        columns={COLUMNS}
        keyOf={({ resource }) => resource}
        detailsOf={({ resource }) => <Owned resource={resource} session={session} />}
      />
    </>
  );
}

const COLUMNS = [
  ['Test', ({ resource }) => resource],
  ['Role', ({ role }) => role],
  ['Result', (test) => <Result test={test} />],
  ['Message', ({ message }) => message],
  ['Since', ({ since }) => dayAndTime(since)],
];

function Result({ test }) {
  const text = RESULTS[test.reason] ?? test.reason;
  return isFailed(test) ? <strong className="problem">{text}</strong> : text;
}
