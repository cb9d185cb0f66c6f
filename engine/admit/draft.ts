/** A draft: a document with some changes, and what does not fit in it. Parts of the changes are judged in the same way, within a budget, so
 *  that no change can make an admission endless. Not here: which changes are culprits (culprits.ts). */
import { editObjects } from '../metadata/edit.ts';
import { objectsOf } from '../metadata/objects.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { Change, Judge, Misfit, Objects } from './change.ts';
import { feasible } from './feasible.ts';

/** The document before all changes, whose objects are foreign, and how a document is judged. */
export type Baseline<R> = {
  readonly document: Metadata;
  /** True for objects that do not fit already. It is called once a document has been judged. */
  readonly isMisfitBefore: (key: string) => boolean;
  /** True for objects that no change may break. */
  readonly isForeign: (key: string) => boolean;
  readonly judge: Judge<R>;
};

/** The most documents that one admission judges to find culprits. Real conflicts take one or two each. */
const MOST_JUDGED = 256;

/** The rest of the budget of an admission. */
export class JudgeBudget {
  #left = MOST_JUDGED;

  get hasRest(): boolean {
    return this.#left > 0;
  }

  spend(): void {
    this.#left--;
  }
}

export class Draft<R> {
  readonly changes: readonly Change[];
  readonly objects: Objects;
  readonly #baseline: Baseline<R>;
  readonly #budget: JudgeBudget;
  #document: Metadata | undefined;
  #after: Objects | undefined;

  constructor(baseline: Baseline<R>, objects: Objects, changes: readonly Change[], budget: JudgeBudget) {
    this.#baseline = baseline;
    this.objects = objects;
    this.changes = changes;
    this.#budget = budget;
  }

  get mayGoOn(): boolean {
    return this.#budget.hasRest;
  }

  isForeign(key: string): boolean {
    return this.#baseline.isForeign(key);
  }

  isMisfitBefore(key: string): boolean {
    return this.#baseline.isMisfitBefore(key);
  }

  /** The document with all changes. */
  get document(): Metadata {
    this.#document ??= editObjects(this.#baseline.document, this.changes);
    return this.#document;
  }

  /** The objects after all changes. */
  get objectsAfter(): Objects {
    this.#after ??= objectsOf(this.document);
    return this.#after;
  }

  /** Returns what does not fit in the document with all changes. */
  judge(): Promise<readonly Misfit<R>[]> {
    this.#budget.spend();
    return this.#baseline.judge(this.document);
  }

  /** Returns the keys of the objects that do not fit in the document with a part of the changes. */
  async misfitsOf(part: readonly Change[]): Promise<ReadonlySet<string>> {
    this.#budget.spend();
    const document = editObjects(this.#baseline.document, feasible(this.objects, part, new Map()));
    return new Set((await this.#baseline.judge(document)).map(({ key }) => key));
  }
}
