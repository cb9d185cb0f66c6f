/** docs/reference/conditions.md: the types and reasons of conditions, with a section for each, from CONDITION_TYPES and REASONS. */
import { CONDITION_TYPES, REASONS, type ReasonRow } from '../../operator/kinds/reasons.ts';
import { page } from './markdown.ts';

const STALLS: Readonly<Record<ReasonRow['stalls'], string>> = {
  never: '',
  late: 'The resource is `Reconciling` at first, and `Stalled` after `--progress-deadline-seconds`.',
  'at once': 'The resource is `Stalled` at once.',
};

export function conditionsPage(): string {
  return page(
    'Conditions and their reasons',
    'Generated from `operator/kinds/reasons.ts` by `make generate`. How to find a problem: [When a resource is not Ready](../guides/troubleshooting.md).',
    [
      'Definitions accept any type and any reason, so that a newer operator can write its status. The lists below are complete for this',
      'release. A link to a reason ends in its name in lower case: `conditions.md#rejectedbyengine`.',
    ].join('\n'),
    '## Types',
    ...Object.entries(CONDITION_TYPES).map(([type, means]) => `### ${type}\n\n${means}`),
    '## Reasons',
    ...Object.entries<ReasonRow>(REASONS).map(([reason, row]) => section(reason, row)),
  );
}

function section(reason: string, { means, remedy, stalls }: ReasonRow): string {
  const health = stalls === 'never' ? [] : [STALLS[stalls]];
  return [`### ${reason}`, means, `**What to do:** ${remedy}`, ...health].join('\n\n');
}
