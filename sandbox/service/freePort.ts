import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const given = new Set<number>();

/**
 * A TCP port that is free now, for a program that starts in a moment; another one for each call. Those that the system gives
 * to connections begin at 32768 on Linux, and higher elsewhere: one of them could be taken again before the program listens.
 * 10080 is the highest that `fetch` and browsers refuse (https://fetch.spec.whatwg.org/#port-blocking).
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = randomInt(10_081, 32_768);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
  throw new Error('No free TCP port between 10081 and 32767');
}

/** The given port, or a free one. Rejects when another program has the given one. */
export async function givenOrFree(given: number | undefined): Promise<number> {
  if (!given) return freePort();
  await tryPort(given);
  return given;
}

/** Rejects with the error of the first port that cannot be opened; 0 stands for a free one. */
export async function checkPorts(ports: Iterable<number>): Promise<void> {
  for (const port of ports) if (port > 0) await tryPort(port);
}

const isFree = (port: number): Promise<boolean> =>
  tryPort(port).then(
    () => true,
    () => false,
  );

function tryPort(port: number): Promise<void> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => server.close(() => resolve()));
  });
}
