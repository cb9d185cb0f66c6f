/** Imported by tests of properties: a change is judged by the same cases as the one before it.
 *  PROPERTY_SEED=random looks where nobody has looked yet, PROPERTY_SEED=<number> repeats a failure, which prints its seed. */
import { configureGlobal } from 'fast-check';

const { PROPERTY_SEED: seed = '20261121' } = process.env;
if (seed !== 'random') configureGlobal({ seed: Number(seed) });
