import { expect, it, onTestFinished, vi } from 'vitest';
import { type Recording, rootOf, startRecording } from './traces.ts';

/** Well above the limit of a stop, and below that of a request to the collector. */

const failures = ({ lines }: Recording) => lines.filter(({ event }) => event === 'traces.not_delivered');

/** Spans until one of them has come to the collector, whatever becomes of it. */
async function oneComes({ traces, collector }: Recording) {
  const before = collector.requests.length;
  traces.begin(rootOf()).end();
  await vi.waitFor(() => expect(collector.requests.length).toBeGreaterThan(before), { timeout: 30_000 });
}

it('a collector that refuses spans has one line in the log, not one for each request, and another at its end', async () => {
  const recording = await startRecording();
  const { collector, lines } = recording;
  collector.behave('refuse');
  await oneComes(recording);
  await vi.waitFor(() => expect(failures(recording)).toHaveLength(1), { timeout: 30_000 });
  await oneComes(recording);
  await oneComes(recording);
  expect(failures(recording)).toMatchObject([{ level: 'warn', err: { code: 400 } }]);
  collector.behave('accept');
  await oneComes(recording);
  const over = () => lines.filter(({ event }) => event === 'trouble.over');
  await vi.waitFor(() => expect(over()).toHaveLength(1), { timeout: 30_000 });
  expect(over()).toMatchObject([{ trouble: 'traces.not_delivered' }]);
});

it('a collector that refuses spans is no trouble any more after a stop', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const recording = await startRecording();
  recording.collector.behave('refuse');
  await oneComes(recording);
  await vi.waitFor(() => expect(failures(recording)).toHaveLength(1), { timeout: 30_000 });
  await recording.traces.close();
  expect(vi.getTimerCount()).toBe(0);
});

it('a collector that hangs delays no message: spans beyond the queue are dropped and counted, and a stop ends', async () => {
  const recording = await startRecording();
  const { traces, collector, lines } = recording;
  collector.behave('hang');
  const most = 512 + 4_096;
  for (let spans = 0; spans < most; spans += 1) traces.begin(rootOf()).end();
  await vi.waitFor(() => expect(collector.requests).toHaveLength(1), { timeout: 30_000 });
  const dropped = () => lines.filter(({ event }) => event === 'traces.dropped');
  expect(dropped()).toEqual([]);
  traces.begin(rootOf()).end();
  traces.begin(rootOf()).end();
  expect(dropped()).toMatchObject([{ level: 'warn' }]);
  await traces.close();
  expect(failures(recording)).toMatchObject([{ err: { type: 'TooLate' } }]);
});

it('a slow collector gets every span, also the last ones', async () => {
  const { traces, collector } = await startRecording();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }); // a stop has no limit on a busy machine
  onTestFinished(() => void vi.useRealTimers());
  collector.behave('slow');
  const many = 2_000;
  for (let spans = 0; spans < many; spans += 1) traces.begin(rootOf()).end();
  await traces.close();
  expect(collector.spans).toHaveLength(many);
});

it('the exporter sends only the given headers, and makes no spans of its own requests', async () => {
  vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'api-key=c0llector-key');
  try {
    const { traces, collector, lines } = await startRecording();
    traces.begin(rootOf()).end();
    await collector.spansNamed('process model.update');
    traces.begin(rootOf({ name: 'another' })).end();
    await collector.spansNamed('another');
    expect(collector.spans).toHaveLength(2);
    for (const { headers } of collector.requests) {
      expect(headers).toMatchObject({ 'api-key': 'c0llector-key' });
      expect(headers).not.toHaveProperty('authorization');
    }
    expect(JSON.stringify(lines)).not.toContain('c0llector-key');
  } finally {
    vi.unstubAllEnvs();
  }
});
