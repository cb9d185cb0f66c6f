/** The reporter of `make test`: failures, a line of progress now and then, skipped tests by name (the name has the reason), and
 *  a summary. What passes is not listed; `npx vitest run --reporter=default` lists it. */
import { MinimalReporter, type TestModule, type TestSpecification } from 'vitest/node';

/** Seconds between two lines of progress. */
const PROGRESS_SECONDS = 30;

export default class QuietReporter extends MinimalReporter {
  #files = 0;
  #done = 0;
  #lastAt = performance.now();

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    super.onTestRunStart(specifications);
    this.#files = specifications.length;
    this.#done = 0;
  }

  override onTestModuleEnd(module: TestModule): void {
    super.onTestModuleEnd(module);
    this.#done++;
    if (performance.now() - this.#lastAt < PROGRESS_SECONDS * 1000) return;
    this.#lastAt = performance.now();
    this.log(`${this.#done} of ${this.#files} files`);
  }

  override onTestRunEnd(...args: Parameters<MinimalReporter['onTestRunEnd']>): void {
    const skipped = args[0].flatMap((module) => [...module.children.allTests('skipped')]);
    for (const test of skipped) this.log(`skipped: ${test.module.relativeModuleId} > ${test.fullName}`);
    super.onTestRunEnd(...args);
  }
}
