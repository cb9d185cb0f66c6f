/** The process an attack comes from, apart from the one that measures. Arguments: the attack's number, the engine's URL.
 *  Sends "launched" when the attack is up; a message to it ends the attack and the process. */
import { ATTACKS } from './attacks.ts';

const [number, url] = process.argv.slice(2);
const end = await ATTACKS[Number(number)]!.launch(new URL(url!));
process.send!('launched');
process.once('message', () => {
  end();
  process.disconnect();
  process.exit(0);
});
