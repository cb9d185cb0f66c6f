/** The reporter of `make test`: failures, the number of files that are done, skipped tests by name (the name has the reason), and a
 *  summary. Tests that pass are not listed; `npx vitest run --reporter=default` lists them. With VITEST_JSON, the files during which an
 *  error happened outside of any test are written beside that report. */
import { writeFileSync } from 'node:fs';
import { MinimalReporter, type SerializedError, type TestModule, type TestSpecification } from 'vitest/node';

/** The seconds between two reports of progress: on a terminal one line is rewritten, elsewhere each is a line of its own. */
const PROGRESS_SECONDS = process.stdout.isTTY ? 1 : 60;

export default class QuietReporter extends MinimalReporter {
  #files = 0;
  #done = 0;
  #failed = 0;
  #startedAt = 0;
  #lastAt = 0;

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    super.onTestRunStart(specifications);
    this.#files = specifications.length;
    this.#done = 0;
    this.#failed = 0;
    this.#startedAt = performance.now();
    this.#lastAt = this.#startedAt;
  }

  override onTestModuleEnd(module: TestModule): void {
    super.onTestModuleEnd(module);
    this.#done++;
    if (module.state() === 'failed') this.#failed++;
    if (performance.now() - this.#lastAt < PROGRESS_SECONDS * 1000) return;
    this.#lastAt = performance.now();
    const minutes = ((this.#lastAt - this.#startedAt) / 60_000).toFixed(1);
    const failed = this.#failed > 0 ? `, ${this.#failed} failed` : '';
    const line = `${this.#done} of ${this.#files} files after ${minutes} min${failed}`;
    if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${line}`);
    else this.log(line);
  }

  override onTestRunEnd(...args: Parameters<MinimalReporter['onTestRunEnd']>): void {
    const [modules, errors] = args;
    if (process.stdout.isTTY) process.stdout.write('\r\x1b[K');
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')]);
    for (const test of skipped) this.log(`skipped: ${test.module.relativeModuleId} > ${test.fullName}`);
    const json = process.env['VITEST_JSON'];
    if (json) writeFileSync(`${json}.errors`, JSON.stringify(errors.map(fileOf)));
    super.onTestRunEnd(...args);
  }
}

function fileOf(error: SerializedError): string | null {
  return (error['VITEST_TEST_PATH'] as string | undefined) ?? null;
}
