import { connect, type Socket } from 'node:net';
import { expect, vi } from 'vitest';
import { soon } from '../../support/waiting.ts';

/** A request that a test writes byte by byte. */
export interface RawRequest {
  readonly socket: Socket;
  /** What has been received. */
  text(): string;
  /** Resolves when the received text matches. */
  receives(pattern: RegExp): Promise<string>;
  /** Resolves when the server has ended the connection, with all that was received. */
  ended(): Promise<string>;
}

/** @param lines of the header, with the request line */
export function rawRequest(port: number, lines: readonly string[], body = ''): RawRequest {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.setEncoding('utf8').on('data', (text) => {
    received += text;
  });
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
  return {
    socket,
    text: () => received,
    async receives(pattern) {
      await vi.waitFor(() => expect(received).toMatch(pattern), soon);
      return received;
    },
    async ended() {
      await closed;
      return received;
    },
  };
}
