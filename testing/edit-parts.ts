/** The parts of the time from an edit of one resource until it is Ready: which of them are the API server's, and which the operator's.
 *  In: the edit, the passes in the operator's log, the status writes in the API server's audit log; times by the clock of the machine. Out: parts.
 *  Pure. Not here: the edits (mass-deletion.ts). */

/** When an edit was sent, when the API server had accepted it, and when a client saw it Ready. */
export type Edit = { readonly sentAt: number; readonly acceptedAt: number; readonly readyAt: number };

export type TimeSpan = { readonly from: number; readonly to: number };

/** A pass of the operator, until it hands over the statuses. */
export type Pass = TimeSpan & { readonly resources: number };

/** The milliseconds of each part. */
export type EditParts = {
  /** The request of the edit. */
  readonly accepted: number;
  /** Passes that the operator ran before the one that applied the edit. */
  readonly otherPasses: number;
  /** Delivery of the watch event, and the linger of the queue. */
  readonly waiting: number;
  readonly pass: number;
  /** From the end of the pass until the API server received the status. */
  readonly statusQueue: number;
  /** The API server's time for the status write. */
  readonly statusWrite: number;
  /** From then until the client saw it. */
  readonly seen: number;
};

/** Returns the parts; undefined when the logs do not have the pass or the write. */
export function editParts(
  { sentAt, acceptedAt, readyAt }: Edit,
  passes: readonly Pass[],
  statusWrites: readonly TimeSpan[],
): EditParts | undefined {
  const write = statusWrites.findLast(({ from }) => from > sentAt && from < readyAt);
  const own = write && passes.findLast(({ to }) => to <= write.from + CLOCK_MS);
  if (!own || own.to < sentAt) return undefined;
  const begun = Math.max(own.from, acceptedAt);
  const otherPasses = passes
    .filter((pass) => pass !== own)
    .reduce((sum, { from, to }) => sum + Math.max(0, Math.min(to, begun) - Math.max(from, acceptedAt)), 0);
  return {
    accepted: acceptedAt - sentAt,
    otherPasses,
    waiting: begun - acceptedAt - otherPasses,
    pass: own.to - begun,
    statusQueue: write.from - own.to,
    statusWrite: write.to - write.from,
    seen: readyAt - write.to,
  };
}

/** The log of the operator has whole milliseconds. */
const CLOCK_MS = 2;

export function partsText(parts: EditParts): string {
  return [
    `edit accepted ${ms(parts.accepted)}`,
    `other passes ${ms(parts.otherPasses)}`,
    `event and queue ${ms(parts.waiting)}`,
    `pass ${ms(parts.pass)}`,
    `queue of statuses ${ms(parts.statusQueue)}`,
    `status write ${ms(parts.statusWrite)}`,
    `seen ${ms(parts.seen)}`,
  ].join(', ');
}

function ms(value: number): string {
  return String(Math.round(value));
}
