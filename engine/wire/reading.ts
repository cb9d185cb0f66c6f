/** Passes on the bytes that sockets receive. Unencrypted sockets read into one buffer that all of them share: Node otherwise allocates 64 kB for each piece, which
 *  is a tenth of a small response's CPU and a third of a long one's.
 *  A piece is valid until the receiver returns. Encrypted sockets, and listeners of `data`, get pieces of their own.
 *  Not here: connecting (socket.ts), what the bytes mean (decode.ts). */
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export type Receive = (piece: Buffer) => void;

const SHARED = Buffer.allocUnsafeSlow(64 * 1024);

/** The receivers of sockets that read into the shared buffer. */
const receivers = new WeakMap<Duplex, { receive: Receive | null }>();

/** Connects a socket that reads into the shared buffer. */
export function connectShared(options: NetConnectOpts): Socket {
  const receiver: { receive: Receive | null } = { receive: null };
  const callback = (length: number) => {
    const piece = SHARED.subarray(0, length);
    if (receiver.receive) receiver.receive(piece);
    else socket.emit('data', Buffer.from(piece));
    return true;
  };
  const socket: Socket = connect({ ...options, onread: { buffer: SHARED, callback } });
  receivers.set(socket, receiver);
  return socket;
}

/** Passes what a socket receives either to its listeners at the time of creation, or to `receive`. */
export class Reading {
  readonly #socket: Duplex;
  readonly #listeners: readonly Receive[];
  readonly #receive: Receive;

  constructor(socket: Duplex, receive: Receive) {
    this.#socket = socket;
    this.#listeners = socket.listeners('data') as Receive[];
    this.#receive = receive;
  }

  start(): void {
    for (const listener of this.#listeners) this.#socket.off('data', listener);
    this.#socket.on('data', this.#receive);
    this.#pass(this.#receive);
  }

  stop(): void {
    this.#socket.off('data', this.#receive);
    for (const listener of this.#listeners) this.#socket.on('data', listener);
    this.#pass(null);
  }

  #pass(receive: Receive | null): void {
    const receiver = receivers.get(this.#socket);
    if (receiver) receiver.receive = receive;
  }
}
