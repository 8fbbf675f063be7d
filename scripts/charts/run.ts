import { setMaxListeners } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts';
import { withConstants } from '../../test/support/processes.ts';
import { parseMetrics } from '../../test/support/promText.ts';
import { sendSteadily } from './devices.ts';
import type { Scrape } from './series.ts';
import { runSeconds, type Trouble, troubles } from './troubles.ts';

const devices = 8;
const scrapeMs = 500;

/** A reply waits for ten seconds only: the run is short. */
const environment = withConstants({ timing: { replySeconds: 10 } });

/**
 * Starts the sandbox's hub and backends and the service as a process, lets devices send, makes the troubles, and reads
 * `/metrics` all the time.
 * @param say progress, for people
 */
export async function runWithTroubles(say: (text: string) => void, interrupt: AbortSignal): Promise<readonly Scrape[]> {
  const directory = await mkdtemp(join(tmpdir(), 'charts-'));
  let sandbox: Sandbox | undefined;
  const ended = new AbortController();
  const end = () => ended.abort();
  interrupt.addEventListener('abort', end, { once: true });
  setMaxListeners(0, ended.signal);
  try {
    const running = await startSandbox({ directory, environment, signal: interrupt });
    sandbox = running;
    say(`The service runs. ${devices} devices send for ${runSeconds} s`);
    const steady = Array.from({ length: devices }, (_, index) =>
      sendSteadily(running, `pump-${index + 11}`, index, ended.signal),
    );
    const work = Promise.all([...steady, ...troubles.map((one) => makeInTime(one, running, say, ended.signal))]);
    const url = running.state.service.readyzUrl.replace('/readyz', '/metrics');
    const scrapes = await Promise.race([
      scrapeAll(url, interrupt),
      work.then(() => Promise.reject(new Error('the devices have ended'))),
    ]);
    end();
    await work;
    return scrapes;
  } finally {
    end();
    await sandbox?.close();
    await rm(directory, { recursive: true, force: true });
  }
}

async function makeInTime(
  { label, from, to, make }: Trouble,
  sandbox: Sandbox,
  say: (text: string) => void,
  ended: AbortSignal,
) {
  await sleep(from * 1000, undefined, { signal: ended }).catch(() => {});
  if (ended.aborted) return;
  say(`${String(from).padStart(4)} s  ${label}`);
  const over = new AbortController();
  const end = () => over.abort();
  const timer = setTimeout(end, (to - from) * 1000);
  ended.addEventListener('abort', end, { once: true });
  await make(sandbox, over.signal);
  clearTimeout(timer);
}

async function scrapeAll(url: string, interrupt: AbortSignal): Promise<readonly Scrape[]> {
  const scrapes: Scrape[] = [];
  const beganAt = performance.now();
  for (;;) {
    const seconds = (performance.now() - beganAt) / 1000;
    if (seconds > runSeconds) return scrapes;
    const response = await fetch(url, { signal: interrupt });
    if (!response.ok) throw new Error(`the service answers ${response.status} at /metrics`);
    scrapes.push({ seconds, samples: parseMetrics(await response.text()) });
    await sleep(Math.max(0, beganAt + scrapes.length * scrapeMs - performance.now()), undefined, { signal: interrupt });
  }
}
