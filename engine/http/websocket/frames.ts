/** WebSocket frames as bytes, for messages that are equal for many clients: they are built once, and written to the sockets without
 *  the WebSocket library. Servers do not mask frames. The engine offers no compression, which would make them differ.
 *  Not here: other messages, which the library frames. Source: RFC 6455, 5.2. */

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

/** Returns a whole text message in one frame. */
export function textFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  return Buffer.concat([textHeader(payload.length), payload]);
}

function textHeader(bytes: number): Buffer {
  if (bytes <= MAX_SHORT_BYTES) return Buffer.from([FIN | TEXT, bytes]);
  const isLong = bytes > MAX_2_BYTES;
  const header = Buffer.alloc(isLong ? 10 : 4);
  header[0] = FIN | TEXT;
  header[1] = isLong ? LENGTH_IN_8_BYTES : LENGTH_IN_2_BYTES;
  if (isLong) header.writeBigUInt64BE(BigInt(bytes), 2);
  else header.writeUInt16BE(bytes, 2);
  return header;
}
