import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createLog } from '../../src/observing/log.ts';
import { type Metrics, noMeter } from '../../src/observing/metrics.ts';
import { startService } from '../../src/programs/service.ts';
import { settings } from '../support/environment.ts';

/** Nobody listens on this port. */
const nobody = 'localhost:1;SharedAccessKeyName=n;SharedAccessKey=a2V5';
const hub = {
  ...settings.hub,
  eventsConnectionString: `Endpoint=sb://${nobody};EntityPath=hub;UseDevelopmentEmulator=true`,
  serviceConnectionString: `HostName=${nobody}`,
};

/** The service with a hub that does not answer; time is the test's own. */
async function serviceWithoutHub(metrics?: Metrics) {
  vi.useFakeTimers({ toFake: ['performance'] });
  const directory = mkdtempSync(join(tmpdir(), 'health-'));
  const lines: Record<string, unknown>[] = [];
  const log = createLog('info', { write: (line) => lines.push(JSON.parse(line)) });
  const http = { ...settings.http, host: '127.0.0.1', port: 0 };
  const service = await startService({ ...settings, hub, http, data: { directory } }, log, 'one', undefined, metrics);
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= service.stop();
    return stopping;
  };
  onTestFinished(async () => {
    await stop();
    rmSync(directory, { recursive: true });
  });
  const port = lines.find(({ msg }) => msg === 'health is served at /livez and /readyz')?.['port'];
  return {
    stop,
    lines,
    async get(path: string) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      return [response.status, await response.json()];
    },
  };
}

it('A service without an answer of the hub is not ready, stays live for five minutes, and then asks for a restart', async () => {
  const { get } = await serviceWithoutHub();
  const missing = [expect.stringMatching(/^a partition of the hub to read/), 'the hub’s service endpoint'];
  expect(await get('/readyz')).toEqual([503, { status: 'not ready', waitingFor: missing }]);
  vi.advanceTimersByTime(299_000);
  expect(await get('/livez')).toEqual([200, { status: 'alive' }]);
  vi.advanceTimersByTime(1_000);
  const stuck = ['an answer of the hub or the checkpoint store'];
  expect(await get('/livez')).toEqual([503, { status: 'not alive', waitingFor: stuck }]);
});

it('A service that stops sends its last metrics, and its last log line has the same counts', async () => {
  let succeeded = 7;
  const { stop, lines } = await serviceWithoutHub({
    meter: noMeter,
    text: undefined,
    summary: () => ({ succeeded }),
    async close() {
      await new Promise(setImmediate);
      succeeded += 1; // what is counted until then is in the line
    },
  });
  await stop();
  expect(lines.at(-1)).toMatchObject({ level: 'info', msg: 'stopped', succeeded: 8 });
});
