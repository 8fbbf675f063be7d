import { createServer, type IncomingMessage, request } from 'node:http';
import { listening } from '../../iot-hub-emulator/test/support/listening.ts';

/** What becomes of a request: passed on; its answer lost after the effect; never answered; or answered with a status. */
export type Fate = 'pass' | 'lose' | 'hang' | number;

export interface LossyProxy {
  readonly port: number;
  /** Decides on each request from now on, at once or later. */
  fate: (request: IncomingMessage) => Fate | Promise<Fate>;
  /** `METHOD /path?query` of each request so far. */
  readonly seen: string[];
  close(): Promise<void>;
}

/** Stands between an HTTP client and a server on this machine. */
export async function startLossyProxy(target: number): Promise<LossyProxy> {
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
  let decide: LossyProxy['fate'] = () => 'pass';
  return {
    ...(await listening(server)),
    seen,
    get fate() {
      return decide;
    },
    set fate(next) {
      decide = next;
    },
  };
}
