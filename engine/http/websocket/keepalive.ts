/** The keep-alive messages of one connection, and the end of one whose client has gone. Once in an interval the connection is checked:
 *
 *  - a client of the older protocol gets `ka`, because its library disconnects when none arrives for a while;
 *  - a client of the newer protocol gets the message `ping` if nothing has arrived from it since the check before;
 *  - a client that has not sent anything since, although it should have answered, also gets a ping of the WebSocket itself;
 *  - after a number of pings without an answer it is disconnected.
 *
 *  All bytes that arrive count, also those of a message that is not complete. All connections have one timer wheel, and start at
 *  different ticks, so that thousands of clients that connect at the same moment are not written to at the same moment.
 *  Not here: a client that does not read (body/send-queues.ts). */
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { type TimerWheel, WheelTimer } from '../../limits/timer-wheel.ts';
import { PING_FRAME, textFrame } from './frames.ts';
import { PROTOCOLS, type Protocol } from './messages.ts';

/** The tick of the wheel. A socket write in a batch takes half of the CPU time of a single one, so a tick should serve many sockets. */
export const WEBSOCKET_TICK_MS = 250;
/** The most pings that may stay unanswered. */
const MAX_UNANSWERED_PINGS = 3;

type KeepaliveOptions = {
  readonly socket: WebSocket;
  /** The connection below the WebSocket. */
  readonly duplex: Socket;
  readonly protocol: Protocol;
  readonly wheel: TimerWheel;
  readonly intervalMs: number;
  /** True when messages of the protocol may be sent. */
  readonly isReady: () => boolean;
};

/** The frames of a check, by protocol. */
const FRAMES = new Map(
  PROTOCOLS.map(({ name, server }) => {
    const alive = textFrame(server.alive);
    return [name, { alive, aliveAndPing: Buffer.concat([alive, PING_FRAME]) }];
  }),
);

export class Keepalive extends WheelTimer {
  readonly #options: KeepaliveOptions;
  /** The bytes that had arrived at the check before. */
  #bytesRead = -1;
  #unansweredPings = 0;

  constructor(options: KeepaliveOptions) {
    super();
    this.#options = options;
    options.wheel.add(this, Math.random() * options.intervalMs);
  }

  /** Checks the connection: writes the messages that are due, or disconnects the client. */
  expire(): void {
    const { socket, duplex, wheel, intervalMs } = this.#options;
    if (socket.readyState !== socket.OPEN) return;
    // This tick is a little late already. Half a tick less gives the next one an interval later, not one that is a tick longer.
    wheel.add(this, intervalMs - WEBSOCKET_TICK_MS / 2);
    // While reading is paused, answers cannot arrive.
    if (socket.isPaused) return;
    const isSilent = duplex.bytesRead === this.#bytesRead;
    this.#bytesRead = duplex.bytesRead;
    if (isSilent && this.#unansweredPings === MAX_UNANSWERED_PINGS) {
      socket.terminate();
      return;
    }
    this.#unansweredPings = isSilent ? this.#unansweredPings + 1 : 0;
    const frame = this.#frame();
    // Not through the library, which would frame the same bytes for each socket.
    if (frame) duplex.write(frame);
  }

  #frame(): Buffer | null {
    const { protocol, isReady } = this.#options;
    const isSilent = this.#unansweredPings > 0;
    if (!isReady()) return isSilent ? PING_FRAME : null;
    const { alive, aliveAndPing } = FRAMES.get(protocol.name)!;
    if (protocol.isAliveAnswered) {
      if (!isSilent) return null;
      return this.#unansweredPings === 1 ? alive : aliveAndPing;
    }
    return isSilent ? aliveAndPing : alive;
  }
}
