/** The reporter of `make test`: failures, the number of files that are done, the files that run for minutes, skipped tests by name (the name
 *  has the reason), and a summary. Tests that pass are not listed; `npx vitest run --reporter=default` lists them. With VITEST_JSON, the
 *  seconds of each file and, at the end, the files during which an error happened outside of any test are written beside that report. */
import { appendFileSync, writeFileSync } from 'node:fs';
import { MinimalReporter, type SerializedError, type TestModule, type TestSpecification } from 'vitest/node';

/** The seconds between two reports of progress: on a terminal one line is rewritten, elsewhere each is a line of its own. */
const PROGRESS_SECONDS = process.stdout.isTTY ? 1 : 60;
/** The time after which files that still run are named: a run that hangs says where. */
const LONG_MS = 300_000;

export default class QuietReporter extends MinimalReporter {
  #files = 0;
  #done = 0;
  #failed = 0;
  #startedAt = 0;
  #lastAt = 0;
  /** The time at which each running file began. */
  readonly #running = new Map<string, number>();
  #watch: NodeJS.Timeout | undefined;

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    super.onTestRunStart(specifications);
    this.#files = specifications.length;
    this.#done = 0;
    this.#failed = 0;
    this.#startedAt = performance.now();
    this.#lastAt = this.#startedAt;
    this.#watch = setInterval(() => this.#nameLong(), LONG_MS).unref();
  }

  onTestModuleStart(module: TestModule): void {
    this.#running.set(module.relativeModuleId, performance.now());
  }

  /** A run that is ended before its report is written still says which files took long. */
  #noteSeconds(name: string): void {
    const json = process.env['VITEST_JSON'];
    const began = this.#running.get(name);
    if (!json || began === undefined) return;
    appendFileSync(`${json}.seconds`, `${((performance.now() - began) / 1000).toFixed(1)} ${name}\n`);
  }

  #nameLong(): void {
    const long = [...this.#running].filter(([, since]) => performance.now() - since > LONG_MS);
    if (long.length > 0) this.log(`still running: ${long.map(([name]) => name).join(', ')}`);
  }

  override onTestModuleEnd(module: TestModule): void {
    super.onTestModuleEnd(module);
    this.#noteSeconds(module.relativeModuleId);
    this.#running.delete(module.relativeModuleId);
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
    clearInterval(this.#watch);
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
