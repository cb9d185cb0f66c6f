/** A plan, and what an apply did, as Markdown, for a comment of a pull request: the sum, then the changes of access, then what is wrong, then every difference.
 *  Names and values come from the resources, so they are escaped: they are no markup, no mentions and no links. Pure.
 *  Not here: the same for a terminal (print.ts). */

import { accessLine } from '../decide/access.ts';
import { ownerOf } from '../decide/decide.ts';
import { crName } from '../kinds.ts';
import type { SchemaEffects } from '../ports/schema-effects.ts';
import { outcomeOfPass } from '../status/engine-status.ts';
import type { RefusedChange } from '../status/fail-on.ts';
import { changeLines, valueLine } from '../status/plan-text.ts';
import { type PlannedAccess, plannedAccess } from '../status/planned-access.ts';
import { type PassPlan, plannedDecisions, type Report } from '../status/report.ts';
import { schemaLines } from '../status/schema-text.ts';
import { verdictsOf } from '../status/verdicts.ts';
import {
  deletionsOf,
  heldLines,
  isFailing,
  leftLines,
  locatedLine,
  migrationLines,
  type Positions,
  PRUNE_HINT,
  planHeading,
  refusalLine,
  summaryOf,
} from './print.ts';
import type { FileProblem } from './read-folder.ts';

type Judgement = {
  readonly problems: readonly FileProblem[];
  readonly refused: readonly RefusedChange[];
  readonly effects: SchemaEffects;
  readonly positions: Positions;
};

/** GitHub and GitLab refuse longer comments. */
const MOST_CHARACTERS = 60_000;

export function planAsMarkdown(made: PassPlan, { problems, refused, effects, positions }: Judgement): string {
  const isRefused = new Set(refused.map(({ message }) => message));
  const access = plannedAccess(made, effects);
  const ofObjects = made.settled.applied.flatMap((decision) => {
    const change = access.of(decision.key);
    return change ? [{ change, owner: ownerOf(decision) }] : [];
  });
  const changes = [...ofObjects, ...access.others.map((change) => ({ change, owner: undefined }))]
    .map(({ change, owner }) => ({ owner, line: accessLine(change, true) }))
    .filter(({ line }) => !isRefused.has(line))
    .map(({ owner, line }) => locatedLine(owner, line, positions));
  const failing = failingLines(made);
  const sections = [
    `### Pergola plan\n\n${escaped(summaryOf(made, problems.length))}`,
    ...refusals(refused, positions),
    listed('Migrations', migrationLines(made)),
    listed('Named values', (made.values ?? []).map(valueLine)),
    listed('Access', changes),
    listed('Schema', schemaLines(effects)),
    listed('Problems', [...problems.map(({ position, message }) => `${position}: ${message}`), ...failing]),
    listed('Left as it is', leftLines(made)),
    listed('Held back', heldLines(made)),
  ].filter((section) => section !== '');
  return `${[...sections, details(made, access, MOST_CHARACTERS - sections.join('').length)].join('\n\n').trimEnd()}\n`;
}

/** Returns what an apply did, in the same form. */
export function reportAsMarkdown(report: Report, problems: readonly FileProblem[]): string {
  const { deleted, abandoned } = deletionsOf(report);
  const states = report.resources.map((cr) => {
    const verdict = report.verdicts.get(cr.metadata.uid)!;
    return { verdict, line: `${crName(cr)}: ${verdict.outcome.reason}: ${verdict.outcome.message}` };
  });
  const pass = outcomeOfPass(report);
  const ready = states.filter(({ verdict }) => verdict.outcome.reason === 'Applied').length;
  const sections = [
    `### Pergola apply\n\n${ready} of ${states.length} resources are Ready.`,
    listed('Engine', pass.reason === 'Applied' ? [] : [`${pass.reason}: ${pass.message}`]),
    listed(
      'Problems',
      problems.map(({ position, message }) => `${position}: ${message}`),
    ),
    listed(
      'Not Ready',
      states.filter(({ verdict }) => verdict.outcome.reason !== 'Applied').map(({ line }) => line),
    ),
    listed('Deleted', deleted),
    listed('Left as it is', abandoned.length === 0 ? [] : [...abandoned, PRUNE_HINT]),
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

function refusals(refused: readonly RefusedChange[], positions: Positions): readonly string[] {
  const levels = Map.groupBy(refused, ({ level }) => level);
  return [...levels].map(([level, changes]) =>
    listed(
      `Refused by --fail-on ${level}`,
      changes.map((change) => refusalLine(change, positions)),
    ),
  );
}

function failingLines(made: PassPlan): readonly string[] {
  const verdicts = verdictsOf(made, made.settled.inconsistent);
  return made.scope.snapshot.resources.flatMap((cr) => {
    const verdict = verdicts.get(cr.metadata.uid)!;
    const { reason, message } = verdict.outcome;
    return isFailing(verdict) ? [`${crName(cr)}: ${reason}: ${message}`] : [];
  });
}

/** Returns nothing for an empty list. A list that is too long says how much it leaves out. */
function listed(title: string, lines: readonly string[]): string {
  if (lines.length === 0) return '';
  const shown: string[] = [];
  let length = 0;
  for (const line of lines) {
    // A line with two spaces in front belongs to the one before.
    const item = line.startsWith('  ') ? `  - ${escaped(line.trim())}` : `- ${escaped(line)}`;
    length += item.length;
    if (length > MOST_CHARACTERS / 4) break;
    shown.push(item);
  }
  const rest = lines.length - shown.length;
  return [`**${title}**`, '', ...shown, ...(rest > 0 ? [`- … and ${rest} more`] : [])].join('\n');
}

function details(made: PassPlan, access: PlannedAccess, room: number): string {
  const groups = Map.groupBy(plannedDecisions(made), (decision) => planHeading(made, decision));
  const lines = [...groups].flatMap(([owner, decisions]) => [
    `# ${owner}`,
    ...decisions.flatMap((decision) => changeLines(decision, access)),
  ]);
  if (lines.length === 0) return '';
  let text = lines.join('\n');
  if (text.length > room) text = `${text.slice(0, Math.max(0, room))}\n… cut; pergola plan prints all of it`;
  const fence = fenceAround(text);
  return `<details><summary>Every difference</summary>\n\n${fence}diff\n${text}\n${fence}\n\n</details>`;
}

/** A fence is longer than every run of backticks inside it. */
function fenceAround(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  return '`'.repeat(longest + 1);
}

/** Returns text that Markdown prints as it is. A mention would notify people, and a reference would link another issue. */
function escaped(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[\\`*{}[\]()!|~>]|\b_|_\b/g, '\\$&')
    .replaceAll(/[@#](?=\w)/g, '$&\u200b')
    .replaceAll(/:\/\//g, ':\u200b//');
}
