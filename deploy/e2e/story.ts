/** Steps of a story depend on earlier ones: after the first that fails, the rest of the story is skipped. Loaded before every story. */
import { beforeEach } from 'vitest';

let hasFailed = false;

beforeEach(({ onTestFailed, skip }) => {
  if (hasFailed) skip('an earlier step has failed');
  onTestFailed(() => {
    hasFailed = true;
  });
});
