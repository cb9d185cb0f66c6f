/** A timer wheel, for time limits of which there are many and most are cancelled. Adding and cancelling link and unlink an object in
 *  a list; one Node timer ticks for all of them. It exists only while timers wait, and does not keep the process running.
 *  A slot of the wheel holds the timers of every tick with the same remainder. A timer of a later turn is relinked when its slot
 *  passes, which is once in `SLOTS` ticks.
 *  Not here: a time limit that is rare or has to be exact, for which Node's timers are right. */

const SLOTS = 512;

/** A time limit. A subclass says what happens when it expires. It may be added again, also while it waits. */
export abstract class WheelTimer {
  /** The neighbours in the list of a slot; the timer itself while it does not wait. Only this file changes these fields. */
  previous: WheelTimer = this;
  next: WheelTimer = this;
  /** The tick that expires the timer. */
  dueTick = 0;

  abstract expire(): void;

  get isWaiting(): boolean {
    return this.next !== this;
  }

  /** Takes the timer out of the wheel. Without effect when it does not wait. */
  cancel(): void {
    this.previous.next = this.next;
    this.next.previous = this.previous;
    this.previous = this;
    this.next = this;
  }
}

/** The head of the list of a slot, which is a ring. */
class Slot extends WheelTimer {
  expire(): void {}

  append(timer: WheelTimer): void {
    timer.previous = this.previous;
    timer.next = this;
    this.previous.next = timer;
    this.previous = timer;
  }

  /** Moves all timers of a slot, which has some, to this one, which is empty. */
  take(slot: Slot): void {
    this.next = slot.next;
    this.previous = slot.previous;
    this.next.previous = this;
    this.previous.next = this;
    slot.previous = slot;
    slot.next = slot;
  }
}

export class TimerWheel {
  readonly #tickMs: number;
  readonly #slots: readonly Slot[] = Array.from({ length: SLOTS }, () => new Slot());
  /** The timers of the slot that is passing. */
  readonly #passing = new Slot();
  /** The time of tick 0. */
  #originMs = 0;
  /** The latest tick that has passed. */
  #tick = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(tickMs: number) {
    this.#tickMs = tickMs;
  }

  /** Expires the timer after at least `ms`, and at most one tick later. A timer that waits is moved. */
  add(timer: WheelTimer, ms: number): void {
    const now = performance.now();
    if (!this.#timer) {
      this.#originMs = now;
      this.#tick = 0;
      this.#arm(now);
    }
    timer.cancel();
    timer.dueTick = Math.max(this.#tick + 1, Math.ceil((now + ms - this.#originMs) / this.#tickMs));
    this.#slotOf(timer.dueTick).append(timer);
  }

  #slotOf(tick: number): Slot {
    return this.#slots[tick % SLOTS]!;
  }

  /** Schedules the next tick. Each delay is computed anew, because an interval would drift and add to the delay of timers. */
  #arm(now: number): void {
    const nextMs = this.#originMs + (this.#tick + 1) * this.#tickMs;
    this.#timer = setTimeout(() => this.#advance(), Math.max(0, Math.ceil(nextMs - now)));
    this.#timer.unref();
  }

  /** Passes every tick up to now, which are many after the event loop was blocked. */
  #advance(): void {
    const last = Math.floor((performance.now() - this.#originMs) / this.#tickMs);
    const first = Math.max(this.#tick + 1, last - SLOTS + 1);
    this.#tick = Math.max(this.#tick, last);
    for (let tick = first; tick <= last; tick++) this.#pass(this.#slotOf(tick));
    if (this.#slots.some(({ isWaiting }) => isWaiting)) this.#arm(performance.now());
    // Not when the last timer is cancelled: with one request after the other that would be a Node timer for each.
    else this.#timer = undefined;
  }

  #pass(slot: Slot): void {
    if (!slot.isWaiting) return;
    this.#passing.take(slot);
    while (this.#passing.isWaiting) {
      const timer = this.#passing.next;
      timer.cancel();
      if (timer.dueTick > this.#tick) slot.append(timer);
      else expire(timer);
    }
  }
}

/** Expires a timer. What it throws is uncaught, as that of a Node timer, and does not stop other timers. */
function expire(timer: WheelTimer): void {
  try {
    timer.expire();
  } catch (thrown) {
    queueMicrotask(() => {
      throw thrown;
    });
  }
}
