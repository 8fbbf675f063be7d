import { connect } from 'node:net';
import { expect, vi } from 'vitest';
import { soon } from '../../support/waiting.ts';

/** A request that a test writes byte by byte. @param lines of the header, with the request line */
export function rawRequest(port: number, lines: readonly string[], body = '') {
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
    /** Resolves when the received text matches. */
    async receives(pattern: RegExp) {
      await vi.waitFor(() => expect(received).toMatch(pattern), soon);
      return received;
    },
    /** Resolves when the server has ended the connection, with all that was received. */
    async ended() {
      await closed;
      return received;
    },
  };
}
