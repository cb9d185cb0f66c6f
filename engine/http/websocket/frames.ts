/** WebSocket frames as bytes. The engine writes its messages to the connection below the WebSocket, because the library makes two
 *  writes of a message, frames the same bytes for each client, and takes half as much CPU time again. Servers do not mask frames, and the
 *  engine offers no compression, so that a frame is the same for all clients.
 *  Not here: the handshake, received frames and close frames, which are the library's. Source: RFC 6455, 5.2. */

const FIN = 0x80;
const TEXT = 0x1;
const PING = 0x9;
/** The longest payload whose length is in the second byte, and the marks of longer forms. */
const MAX_SHORT_BYTES = 125;
const LENGTH_IN_2_BYTES = 126;
const LENGTH_IN_8_BYTES = 127;
const MAX_2_BYTES = 0xffff;

/** A ping without a payload. */
export const PING_FRAME = Buffer.from([FIN | PING, 0]);

/** Returns a whole text message in one frame. `moreBytes` is the number of bytes of the message that the caller writes after it. */
export function textFrame(text: string, moreBytes = 0): Buffer {
  const bytes = Buffer.byteLength(text);
  const payloadBytes = bytes + moreBytes;
  const headerBytes = payloadBytes <= MAX_SHORT_BYTES ? 2 : payloadBytes <= MAX_2_BYTES ? 4 : 10;
  const frame = Buffer.allocUnsafe(headerBytes + bytes);
  frame[0] = FIN | TEXT;
  if (headerBytes === 2) frame[1] = payloadBytes;
  else if (headerBytes === 4) {
    frame[1] = LENGTH_IN_2_BYTES;
    frame.writeUInt16BE(payloadBytes, 2);
  } else {
    frame[1] = LENGTH_IN_8_BYTES;
    frame.writeBigUInt64BE(BigInt(payloadBytes), 2);
  }
  frame.write(text, headerBytes);
  return frame;
}
