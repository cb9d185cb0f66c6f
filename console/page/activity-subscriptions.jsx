/** The subscriptions of this replica and what they cost. In: `list_subscriptions`, which reads memory. */
import { printed } from './chart.jsx';
import { Grid } from './grid.jsx';
import { Outcome } from './problem.jsx';
import { Scrolling } from './scrolling.jsx';
import { useAnswer } from './use-answer.js';

export function Subscriptions({ session }) {
  const { answer, problem, read } = useAnswer(session, 'list_subscriptions');
  return (
    <>
      <div className="controls">
        <button type="button" onClick={read}>
          Refresh
        </button>
      </div>
      <Outcome answer={answer} problem={problem} />
      {answer && (
        <>
          <p>
            {answer.subscriptions} running
            {answer.roles.map(({ role, subscriptions }) => `, ${subscriptions} as ${role}`)}.
          </p>
          <Grid
            label="Polled statements"
            columns={COLUMNS}
            rows={answer.pollers.map((each, number) => ({ ...each, number }))}
            keyOf={({ number }) => number}
            detailsOf={({ statement }) => (
              <div className="details">
                <Scrolling label="SQL" text={statement} />
              </div>
            )}
            empty="No statement is polled."
          />
        </>
      )}
    </>
  );
}

const COLUMNS = [
  ['Statement', ({ kind, number }) => `${kind} ${number + 1}`],
  ['Source', ({ source }) => source],
  ['Subscribers', ({ subscribers }) => subscribers],
  ['With different values', ({ cohorts }) => cohorts],
  ['Every', ({ interval_ms }) => `${printed(interval_ms / 1000)} s`],
  ['Mean time', ({ mean_ms }) => (mean_ms === null ? '–' : `${printed(mean_ms)} ms`)],
  ['Connection busy', ({ share }) => `${printed(share * 100)} %`],
  ['Failures', ({ failures, runs }) => `${failures} of ${runs}`],
];
