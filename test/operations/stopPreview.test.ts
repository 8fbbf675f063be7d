import { describe, expect, it } from 'vitest';
import type { Step } from '../../src/observing/course.ts';
import type { DrainConditions } from '../../src/operations/heldSteps.ts';
import { stopPreview } from '../../src/operations/stopPreview.ts';
import { withFakeTimers } from '../support/waiting.ts';

withFakeTimers();

const usual: DrainConditions = {
  ...{ drainSeconds: 25, hasTokens: true, isConnected: true },
  ratePerSecond: undefined,
};

const step = (kind: Step['kind'], waitsFor: string, seconds = 1): Step => ({
  ...{ kind, waitsFor, what: 'replace object model', of: kind === 'reply' ? 'pump-1' : 'information model' },
  since: performance.now() - seconds * 1000,
});

const call = (waitsFor: string, seconds?: number) => step('call', waitsFor, seconds);
const reply = (waitsFor: string, seconds?: number) => step('reply', waitsFor, seconds);

const partition = (
  name: string,
  inFlight: number,
  waiting: number,
  unwritten = 0,
  isFailing = false,
  sleeping = 0,
) => ({
  ...{ partition: name, state: 'reading' as const, inFlight, sleeping, waiting },
  checkpoint: { unwritten, isFailing },
});

const begun = (name: string, ...steps: Step[]) => ({ partition: name, steps });

/** What one message in flight waits for, as far as a drain does not end it. */
const heldBy = (conditions: DrainConditions, ...steps: Step[]) => {
  const { total, waitsFor } = stopPreview([partition('0', 1, 0)], [begun('0', ...steps)], conditions);
  expect(total.held).toBe(waitsFor.length === 0 ? 0 : 1);
  return waitsFor.map(({ what }) => what);
};

it.each<[string, () => Step, Partial<DrainConditions>?]>([
  ['while it waits for an answer', () => call('answer', 25)],
  ['while it waits for a connection', () => call('connection')],
  ['while it waits for a token that may come at any time', () => call('token')],
  ['while the hub takes its reply', () => reply('hub')],
  ['while one of its replies waits for a full queue, and others do not', () => reply('queue_full')],
  ['while its reply is to be sent again', () => reply('throttled')],
  ['while its reply waits for a turn at a rate that nobody knows', () => reply('turn')],
  ['while it is being parked, also without the hub', () => step('parking', 'answer'), { isConnected: false }],
])('A message in flight ends within a drain %s', (_, one, changes = {}) =>
  expect(heldBy({ ...usual, ...changes }, one())).toEqual([]),
);

describe('A message in flight does not end within a drain', () => {
  it.each<[string, () => Step, Partial<DrainConditions>?]>([
    ['the end of the outage of the information model', () => call('circuit')],
    ['an access token: the token endpoint is out', () => call('token'), { hasTokens: false }],
    ['the information model, for longer than a drain takes', () => call('answer', 26)],
    ['the information model, for longer than a drain takes', () => call('retry', 26)],
    ['the hub, which takes no replies for now', () => reply('quota')],
    ['the hub, which takes no replies for now', () => reply('suspended')],
    ['a connection to the hub, for replies', () => reply('hub'), { isConnected: false }],
    ['the store of dead letters', () => step('parking', 'retry')],
    ['a turn to be sent, at the rate of the hub', () => reply('turn'), { ratePerSecond: 0.039 }],
    ['a connection to the hub, for replies', () => reply('turn'), { ratePerSecond: 0.039, isConnected: false }],
  ])('that waits for %s', (what, one, changes = {}) => expect(heldBy({ ...usual, ...changes }, one())).toEqual([what]));

  it.each(['quota', 'suspended'])('that waits behind a reply that the hub does not accept for now: %s', (why) => {
    const works = [begun('0', reply(why)), begun('0', reply('turn'))];
    expect(stopPreview([partition('0', 2, 0)], works, usual).total.held).toBe(2);
  });

  it('that has its turn after the drain, which only waiting replies take', () => {
    const turns = [3, 1, 2].map((seconds) => begun(String(seconds), reply('turn', seconds)));
    const works = [begun('4', call('answer', 5)), begun('4', reply('hub', 4)), ...turns];
    const places = [1, 2, 3].map((name) => partition(String(name), 1, 0));
    const { partitions } = stopPreview(places, works, { ...usual, ratePerSecond: 0.08 });
    expect(partitions.map(({ held }) => held)).toEqual([1, 0, 0]);
  });
});

it('the preview counts the messages in flight, the repeated and the remaining ones, per partition and in total', () => {
  const works = [
    begun('0', call('circuit'), call('circuit')),
    begun('0', call('answer')),
    begun('1', reply('queue_full')),
    begun('1', step('parking', 'answer')),
    begun('1'),
  ];
  const places = [partition('0', 2, 5, 7), partition('1', 2, 11, 13, true, 1)];
  expect(stopPreview(places, works, usual)).toEqual({
    isSafe: false,
    verdict:
      'Not yet: 15 messages would be repeated. 2 of 4 messages in flight cannot end, waiting for: the end of the outage of the information model; devices that do not fetch their replies. Done, but in no checkpoint because none can be written: 13. A stop gives 2 messages in flight up to 25 s to end. 16 messages not begun would be left for the next reader.',
    drainAtMostSeconds: 25,
    total: { inFlight: 4, held: 2, unstarted: 16, unfinished: 18, replies: 1, parking: 1, unwritten: 20, repeated: 15 },
    waitsFor: [
      { what: 'the end of the outage of the information model', messages: 1 },
      { what: 'devices that do not fetch their replies', messages: 1 },
    ],
    partitions: [
      {
        ...{ partition: '0', state: 'reading', inFlight: 2, held: 1, unstarted: 5, unfinished: 6, replies: 0 },
        ...{ parking: 0, unwritten: 7, repeated: 1 },
      },
      {
        ...{ partition: '1', state: 'reading', inFlight: 2, held: 1, unstarted: 11, unfinished: 12, replies: 1 },
        ...{ parking: 1, unwritten: 13, repeated: 14 },
      },
    ],
  });
});

it('the preview counts the messages of each cause', () => {
  const works = ['circuit', 'circuit', 'answer'].map((waitsFor) => begun('0', call(waitsFor)));
  const { waitsFor } = stopPreview([partition('0', 4, 0)], [...works, begun('0', reply('quota'))], usual);
  expect(waitsFor).toEqual([
    { what: 'the end of the outage of the information model', messages: 2 },
    { what: 'the hub, which takes no replies for now', messages: 1 },
  ]);
});

it('the preview reports a safe stop while messages in flight end, and no wait when there are none', () => {
  expect(stopPreview([partition('0', 1, 1, 3)], [begun('0', call('answer'))], usual)).toMatchObject({
    isSafe: true,
    verdict:
      'Safe: as far as is known, nothing is repeated. A stop gives 1 message in flight up to 25 s to end. 1 message not begun would be left for the next reader.',
    drainAtMostSeconds: 25,
  });
  expect(stopPreview([partition('0', 1, 0, 0, false, 1)], [], usual)).toMatchObject({
    isSafe: false,
    verdict:
      'Not yet: 1 message would be repeated. 1 of 1 message in flight cannot end, waiting for: devices that do not fetch their replies.',
    drainAtMostSeconds: 0,
  });
  expect(stopPreview([partition('0', 0, 3)], [], usual)).toMatchObject({ isSafe: true, drainAtMostSeconds: 0 });
  expect(stopPreview([partition('0', 0, 0)], [], usual)).toMatchObject({
    isSafe: true,
    verdict: 'Safe: as far as is known, nothing is repeated. Nothing is in flight, and nothing waits here.',
    drainAtMostSeconds: 0,
  });
});
