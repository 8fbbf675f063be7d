import { createServer, type IncomingMessage, request } from 'node:http';
import { listening } from '../../iot-hub-emulator/test/support/listening.ts';

/** What becomes of a request: passed on; its answer lost after the effect; never answered; or answered with a status. */
export type Fate = 'pass' | 'lose' | 'hang' | number;

type Decide = (request: IncomingMessage) => Fate | Promise<Fate>;

/** Stands between an HTTP client and a server on this machine. */
export async function startLossyProxy(target: number) {
  const seen: string[] = [];
  const server = createServer(async (incoming, outgoing) => {
    seen.push(`${incoming.method} ${incoming.url}`);
    const fate = await decide(incoming);
    if (fate === 'hang') return;
    if (typeof fate === 'number') {
      incoming.resume();
      outgoing.writeHead(fate).end();
      return;
    }
    const { method, url, headers } = incoming;
    const forwarded = request(
      { host: '127.0.0.1', port: target, method, path: url, headers, agent: false },
      (answer) => {
        if (fate === 'lose') {
          answer.resume().once('end', () => incoming.socket.destroy());
          return;
        }
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    forwarded.once('error', () => incoming.socket.destroy());
    incoming.pipe(forwarded);
  });
  let decide: Decide = () => 'pass';
  return {
    ...(await listening(server)),
    /** `METHOD /path?query` of each request so far. */
    seen,
    /** Decides on each request from now on, at once or later. */
    get fate() {
      return decide;
    },
    set fate(next: Decide) {
      decide = next;
    },
  };
}
