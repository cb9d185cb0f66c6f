/** Sends the requests of a lane one after the other and records its possible states: one after an answered request, two after an
 *  unanswered one. In: a URL, random numbers. Out: states, and counts of the answers. Not here: the requests (lane.ts). */
import { ABSENT, type Lane, type LaneState, nextStep } from './lane.ts';
import { post } from './post.ts';

export type Tally = { acknowledged: number; refused: number; overtaken: number; unanswered: number };

export class Writer {
  readonly lane: Lane;
  /** The possible states of the lane; one while no request runs. */
  possible: readonly LaneState[] = [ABSENT];
  readonly problems: string[] = [];

  constructor(lane: Lane) {
    this.lane = lane;
  }

  /** Sends requests one after the other until `goesOn` returns false or the engine does not answer. */
  async writeWhile(goesOn: () => boolean, { url, choose, serial, tally }: WriteOptions): Promise<void> {
    while (goesOn() && (await this.#writeOne(url(), choose(), serial(), tally)));
  }

  /** Returns true when the request was answered. */
  async #writeOne(url: string, choice: number, serial: number, tally: Tally): Promise<boolean> {
    const [state] = this.possible;
    const step = nextStep(this.lane, state!, choice, serial);
    this.possible = [state!, step.next];
    const answer = await post(url + step.request.path, step.request.body);
    if (answer === null) {
      tally.unanswered++;
      return false;
    }
    this.possible = [answer.status === 200 ? step.next : state!];
    if (answer.status === 200) tally.acknowledged++;
    else tally.refused++;
    if (answer.status === 409) tally.overtaken++;
    if ((answer.status === 200) === (step.isWrong ?? false) && answer.status !== 409) {
      this.problems.push(`${answer.status} to ${JSON.stringify(step.request.body)}: ${answer.text}`);
    }
    return true;
  }
}

export type WriteOptions = {
  readonly url: () => string;
  readonly choose: () => number;
  readonly serial: () => number;
  readonly tally: Tally;
};
