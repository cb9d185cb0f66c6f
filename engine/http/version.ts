/** The version reported to clients. Clients compare it with their own by semantic versioning and expect the 2.x line
 *  of the API we implement, so that comes first. Our own version is its build metadata, which comparisons ignore. */
import { readFileSync } from 'node:fs';

/** The release of the API family whose responses we implement. */
const API_VERSION = '2.48.0';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

export const VERSION = `v${API_VERSION}+pergola.${version}`;
