/** The version we tell clients. They compare it with their own by the rules of semantic versions and expect the 2.x line
 *  of the API we speak, so that comes first; our own version is its build metadata, which comparisons leave out. */
import { readFileSync } from 'node:fs';

/** The release of the API family whose shapes we serve. */
const API_VERSION = '2.48.0';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

export const VERSION = `v${API_VERSION}+pergola.${version}`;
