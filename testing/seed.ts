/** Sets the seed of property tests, which import this file: every change is tested with the same cases. PROPERTY_SEED=random tests new
 *  cases, PROPERTY_SEED=<number> repeats a failure, which prints its seed. */
import { configureGlobal } from 'fast-check';

const { PROPERTY_SEED: seed = '20261121' } = process.env;
if (seed !== 'random') configureGlobal({ seed: Number(seed) });
