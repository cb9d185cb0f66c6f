/** The part of tar-stream that layer.ts and its tests use. The package has no types of its own. */
declare module 'tar-stream' {
  import type { Readable, Writable } from 'node:stream';

  export type Header = {
    readonly name: string;
    readonly size?: number;
    /** Null for a type that tar-stream does not know. */
    readonly type?: string | null;
    readonly linkname?: string | null;
  };
  export type Entry = AsyncIterable<Uint8Array> & { readonly header: Required<Header>; resume(): void };
  export function extract(): Writable & AsyncIterable<Entry>;
  export function pack(): Readable & {
    entry(header: Header, content?: string | Buffer): void;
    finalize(): void;
  };
}
