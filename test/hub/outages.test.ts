import type { AxiosAdapter } from 'axios';
import { expect, it, onTestFinished, vi } from 'vitest';
import { TransportFailure } from '../../src/backends/transport.ts';
import { createBudget } from '../../src/engine/budget.ts';
import { createPartition } from '../../src/engine/partition.ts';
import { createLog } from '../../src/observing/log.ts';
import { usual } from '../engine/support/partitions.ts';
import { settings } from '../support/environment.ts';
import { hubEvent } from '../support/events.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { receivedMessageOf, wire } from '../support/wiring.ts';

withFakeTimers();

const outage = { from: 10_000, to: 130_000 };
const [devices, everyMs, untilMs] = [20, 4_000, 160_000];

type Fault = 'refused' | 'hang' | readonly [status: number, headers?: Readonly<Record<string, string>>];

/** Twenty devices send through a partition while the information model is out for two minutes. */
async function underLoad(fault: Fault) {
  const began = performance.now();
  const now = () => performance.now() - began;
  const done: string[] = [];
  const begun: { id: string; at: number }[] = [];
  const adapter: AxiosAdapter = async (config) => {
    const id = config.headers['x-correlation-id'] as string | undefined;
    if (id !== undefined) begun.push({ id, at: now() });
    if (now() >= outage.from && now() < outage.to) {
      if (fault === 'refused') throw new TransportFailure('connection refused', false);
      if (fault === 'hang') {
        await new Promise((resolve) => setTimeout(resolve, config.timeout));
        throw new TransportFailure('no answer in time', true);
      }
      const [status, headers = {}] = fault;
      return { status, statusText: '', headers, data: Buffer.alloc(0), config };
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (id !== undefined) done.push(id);
    const objectId = /^\/objects\/([^/]+)/.exec(config.url ?? '')?.[1];
    const data = Buffer.from(JSON.stringify({ objectId, model: 'svc.device', version: 2 }));
    return { status: 200, statusText: '', headers: {}, data, config };
  };
  const lines: Record<string, unknown>[] = [];
  const log = createLog('info', { write: (line) => void lines.push({ ...JSON.parse(line), at: now() }) });
  const { backends, dispatch } = wire({
    ...{ adapter, random: Math.random, send: async () => 'delivered' },
    amounts: () => ({ waiting: partition.pending() }),
    ...{ deadLetters: { park: async () => {}, remove: async () => {} }, log },
  });
  onTestFinished(() => backends.close());
  const troubles: string[] = [];
  const budget = createBudget({ maxMessages: 1e4, maxBytes: 640e6 });
  let finished = -1;
  const partition = createPartition({
    ...usual,
    budget,
    receivedMessageOf,
    dispatch,
    async checkpoint({ sequenceNumber }) {
      finished = sequenceNumber;
      return true;
    },
    limits: { everyMessages: 1, everyMs: 1_000 },
    onTrouble: (_error, what) => troubles.push(what),
  });
  let sent = 0;
  let mostInFlight = 0;
  while (now() < untilMs) {
    const events = Array.from({ length: devices }, (_, device) => {
      const sequenceNumber = sent++;
      return hubEvent({
        sequenceNumber,
        device: `d${device}`,
        properties: {
          msgType: 'action',
          action: 'model.update',
          version: '2',
          objectId: `00000000-0000-0000-0000-${String(device).padStart(12, '0')}`,
          correlationId: `d${device}-${sequenceNumber}`,
        },
        body: { type: 'pump', version: 1, properties: {} },
      });
    });
    void partition.admit(events);
    await vi.advanceTimersByTimeAsync(everyMs);
    if (now() > outage.to / 2 && now() < outage.to) mostInFlight = Math.max(mostInFlight, budget.inFlight().messages);
  }
  await vi.advanceTimersByTimeAsync(60_000);
  partition.revoke();
  const handled = lines.filter(({ msg }) => msg === 'handled');
  const out = lines.filter(({ msg, at }) => msg === 'backend is out, calls to it wait' && Number(at) < outage.to);
  return { sent, handled, done, begun, out, finished, troubles, mostInFlight };
}

it.each([
  ['that refuses connections', 'refused'],
  ['that hangs', 'hang'],
  ['that answers 502', [502]],
  ['that answers 503', [503]],
  ['that answers 504', [504]],
  ['that asks to come back in ten minutes', [503, { 'retry-after': '600' }]],
  ['that asks to come back in ten minutes, as it is throttled', [429, { 'retry-after': '600' }]],
  ['that answers 500 to everyone', [500]],
  ['that refuses our token', [401]],
] as [string, Fault][])(
  'Two minutes of a backend %s fail no message that had not begun, and all are handled afterwards, in order (B5)',
  async (_, fault) => {
    const { sent, handled, done, begun, out, finished, troubles, mostInFlight } = await underLoad(fault);
    expect([handled.length, finished, troubles]).toEqual([sent, sent - 1, []]);
    expect(mostInFlight).toBe(0); // also those that had begun release their permits (D28)

    const opened = Number(out[0]?.['at']);
    expect(opened).toBeGreaterThanOrEqual(outage.from);
    expect(opened).toBeLessThan(outage.from + 2 * settings.backends.attemptTimeoutSeconds * 1_000);
    const hadBegun = new Set(begun.filter(({ at }) => at <= opened).map(({ id }) => id));
    const failed = handled.filter(({ code }) => code !== 'ok').map(({ correlationId }) => String(correlationId));
    expect(failed.filter((id) => !hadBegun.has(id))).toEqual([]);
    expect(failed.length).toBeLessThanOrEqual(1); // the first device's, when it draws 500 before anybody else
    expect(begun.filter(({ at, id }) => at > opened && at < outage.to && !hadBegun.has(id))).toEqual([]);

    for (let device = 0; device < devices; device += 1) {
      const ids = done.filter((id) => id.startsWith(`d${device}-`)).map((id) => Number(id.split('-')[1]));
      expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    }
    expect(new Set(done).size).toBe(sent - failed.length);
    expect(out.length).toBeLessThanOrEqual(3); // at the start, and once a minute
    const each = out.slice(1);
    expect(each.length).toBeGreaterThan(0);
    for (const { waiting, forSeconds } of each)
      expect(Number(waiting)).toBeGreaterThan((Number(forSeconds) * 1_000 * devices) / everyMs / 2);
  },
);
