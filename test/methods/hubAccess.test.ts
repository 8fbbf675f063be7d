import { expect, it, onTestFinished, vi } from 'vitest';
import type { DirectMethodResult } from '../../src/hub/methods/directMethods.ts';
import { createHubAccess } from '../../src/hub/methods/hubAccess.ts';
import { createTroubles } from '../../src/observing/log.ts';
import { recordingLog } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';

// Whether the hub accepts methods with the configured key (D47).

withFakeTimers();

const failure = (
  name: 'refused' | 'device_unknown' | 'unavailable' | 'outcome_unknown' | 'no_reply' | 'stopped' | 'stopped_unsent',
) => ({ kind: 'failure', failure: name }) as const;
const refused: DirectMethodResult = { ...failure('refused'), status: 401, code: 401002 };
const unknown: DirectMethodResult = { ...failure('device_unknown'), status: 404, code: 404001 };
const response: DirectMethodResult = { kind: 'response', status: 200, payload: null, text: '' };

/** The hub answers probes with each of these in turn, with the last one for ever. */
function setUp(...answers: readonly DirectMethodResult[]) {
  const left = [...answers];
  const probes: unknown[] = [];
  const methods = {
    async invoke(method: unknown) {
      probes.push(method);
      return (left.length > 1 ? left.shift() : left[0]) as DirectMethodResult;
    },
    abort() {},
    close() {},
  };
  const log = recordingLog();
  const troubles = createTroubles(log);
  onTestFinished(() => troubles.close());
  const access = createHubAccess(methods, true, log as never, troubles);
  const told = () => log.lines.map(({ level, message }) => `${level}: ${message}`);
  return { access, probes, told, lines: log.lines };
}

const granted = 'info: the hub grants access to methods';
const isRefused = 'error: the hub refuses access: methods cannot be invoked';
const isOut = 'warn: the hub does not accept methods';

it('access is granted by the answer that a device is unknown, and is not asked for again', async () => {
  const { access, probes, told } = setUp(unknown);
  expect(access.isGranted()).toBe(false);
  access.start();
  await vi.advanceTimersByTimeAsync(60_000);
  expect([access.isGranted(), told(), vi.getTimerCount()]).toEqual([true, [granted], 0]);
  expect(probes).toEqual([
    { device: expect.stringMatching(/^[0-9a-f-]{36}$/), module: '', payload: null, timeoutSeconds: 5 },
  ]);
  access.recordOutcome(response);
  expect(told()).toEqual([granted]);
});

it('access that is refused is asked for every five seconds, and told when it is granted', async () => {
  const { access, probes, told, lines } = setUp(refused, refused, unknown);
  access.start();
  await vi.advanceTimersByTimeAsync(0);
  expect([access.isGranted(), told()]).toEqual([false, [isRefused]]);
  expect(lines[0]?.fields).toMatchObject({
    ...{ status: 401, errorCode: 401002, setting: 'HUB_SERVICE_CONNECTION_STRING' },
    todo: expect.stringMatching(/has service connect; or synchronise the clock/),
  });
  await vi.advanceTimersByTimeAsync(4_999);
  expect(probes.length).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(probes.length).toBe(2);
  await vi.advanceTimersByTimeAsync(5_000);
  expect([probes.length, access.isGranted()]).toEqual([3, true]);
  expect(told()).toEqual([isRefused, 'info: the hub grants access again', granted]);
});

it('access is asked for again while the hub is out of reach', async () => {
  const { access, probes } = setUp(failure('unavailable'), failure('unavailable'), unknown);
  access.start();
  await vi.advanceTimersByTimeAsync(5_000);
  expect([probes.length, access.isGranted()]).toEqual([2, false]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect([probes.length, access.isGranted()]).toEqual([3, true]);
});

it('access is lost when the hub refuses an invocation, and asked for again', async () => {
  const { access, probes } = setUp(unknown);
  access.recordOutcome(response);
  expect(access.isGranted()).toBe(true);
  access.recordOutcome(refused);
  access.recordOutcome(refused);
  expect(access.isGranted()).toBe(false);
  await vi.advanceTimersByTimeAsync(5_000);
  expect([probes.length, access.isGranted()]).toEqual([1, true]);
});

it.each<[what: string, result: DirectMethodResult]>([
  ['without a response', failure('no_reply')],
  ['whose outcome is unknown', { ...failure('outcome_unknown'), status: 500 }],
  ['that says it is unavailable', { ...failure('unavailable'), status: 503 }],
])('a hub %s does not accept methods, but does not refuse access', async (_, result) => {
  const { access, told, lines } = setUp(result);
  access.recordOutcome(result);
  expect([access.isGranted(), told()]).toEqual([false, [isOut]]);
  const { status, code } = result as { readonly status?: number; readonly code?: number };
  expect(lines[0]?.fields).toMatchObject({
    ...{ status, errorCode: code, setting: 'HUB_SERVICE_CONNECTION_STRING' },
    todo: 'compare HostName with that of the hub, or wait until it is back',
  });
  access.recordOutcome(response);
  expect(told()).toEqual([isOut, 'info: the hub accepts methods again', granted]);
  access.recordOutcome(result);
  expect(access.isGranted()).toBe(true);
});

it('a malformed answer of a device comes through a hub that accepts methods', () => {
  const { access, told } = setUp(unknown);
  access.recordOutcome({ kind: 'failure', failure: 'bad_reply' });
  expect([access.isGranted(), told()]).toEqual([true, [granted]]);
});

it('a call that this program has ended says nothing about the hub', () => {
  const { access, told } = setUp(unknown);
  access.recordOutcome(failure('stopped'));
  access.recordOutcome(failure('stopped_unsent'));
  expect([access.isGranted(), told()]).toEqual([false, []]);
});

it('nothing is asked after the close, nor is the answer to an earlier question told', async () => {
  const { access, probes, told } = setUp(refused);
  access.start();
  access.close();
  await vi.advanceTimersByTimeAsync(60_000);
  expect([probes.length, told(), vi.getTimerCount()]).toEqual([1, [], 0]);
  const other = setUp(refused);
  other.access.start();
  await vi.advanceTimersByTimeAsync(1_000);
  other.access.close();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(other.probes.length).toBe(1);
});
