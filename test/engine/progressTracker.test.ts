import { describe, expect, it, vi } from 'vitest';
import { decodeCompletion, encodeCompletion, isDone } from '../../src/engine/completionMap.ts';
import { type Checkpoint, createRedeliveryHorizon, createTracked } from '../../src/engine/progressTracker.ts';
import type { WorkHandle } from '../../src/engine/watermark.ts';

const at = (sequenceNumber: number) => ({ sequenceNumber, offset: `o${sequenceNumber}` });
const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index);

const runs = [
  { first: 20, last: 30 },
  { first: 40, last: 50 },
];
/** When the hub received what it has received since. */
const later = new Date(8.64e15);
const fresh: Checkpoint = { ...at(10), completed: '' };
const withMap: Checkpoint = { ...at(10), completed: encodeCompletion(10, runs) };

const doneAbove = ({ sequenceNumber, completed }: Checkpoint) => {
  const map = decodeCompletion(sequenceNumber, completed);
  return from(sequenceNumber + 1, 60).filter((one) => map !== undefined && isDone(map, one));
};

/** Takes steps such as `begin 11`, and returns what a snapshot then says. */
function afterSteps(start: Checkpoint | undefined, steps: string, tracked = createTracked(start)) {
  const begun = new Map<number, WorkHandle>();
  for (const step of steps.split(', ').filter((one) => one !== '')) {
    const [verb, number] = step.split(' ');
    const sequenceNumber = Number(number);
    if (verb === 'begin') begun.set(sequenceNumber, tracked.begin(at(sequenceNumber)));
    else if (verb === 'end') tracked.end(begun.get(sequenceNumber) as WorkHandle);
    else tracked.pass(at(sequenceNumber));
  }
  const { progress } = tracked.snapshot() ?? {};
  const safe = progress && [progress.sequenceNumber, progress.offset];
  return { safe, done: progress && doneAbove(progress), pending: tracked.pending() };
}

describe('a snapshot', () => {
  it.each([
    [
      'has nothing while nothing is safe',
      undefined,
      'begin 1, begin 2, end 2',
      { safe: undefined, done: undefined, pending: 1 },
    ],
    ['is the start until something is done', fresh, 'begin 11', { safe: [10, 'o10'], done: [], pending: 1 }],
    [
      'does not move on over a message for events skipped after it',
      fresh,
      'begin 11, pass 12, begin 13, pass 14',
      { safe: [10, 'o10'], done: [12, 14], pending: 2 },
    ],
    [
      'counts a message that ends twice once',
      fresh,
      'begin 11, begin 12, end 12, end 12',
      { safe: [10, 'o10'], done: [12], pending: 1 },
    ],
    [
      'still has the work of the previous reader that this one has not reached',
      withMap,
      'begin 11, pass 12',
      { safe: [10, 'o10'], done: [12, ...from(20, 30), ...from(40, 50)], pending: 1 },
    ],
    [
      'has the rest of the previous reader’s work when this reader is in the middle of it',
      withMap,
      'begin 11, pass 12, pass 20, pass 21, end 11',
      { safe: [21, 'o21'], done: [...from(22, 30), ...from(40, 50)], pending: 0 },
    ],
  ])('%s', (_, start, steps, expected) => expect(afterSteps(start, steps)).toEqual(expected));

  it('has the state of its time: messages that end later are in the next one', () => {
    const tracked = createTracked(fresh);
    const eleven = tracked.begin(at(11));
    const first = tracked.snapshot();
    tracked.end(eleven);
    expect([first, tracked.snapshot()]).toEqual([
      { progress: fresh, crashRecord: undefined },
      { progress: { ...at(11), completed: '' }, crashRecord: undefined },
    ]);
  });
});

describe('the work of the previous reader', () => {
  it('counts as done, and no other work does', () => {
    const tracked = createTracked(withMap);
    afterSteps(withMap, 'begin 11, pass 12, end 11', tracked);
    expect(from(11, 60).filter(tracked.isDone)).toEqual([...from(20, 30), ...from(40, 50)]);
    expect(tracked.isMapUnreadable).toBe(false);
  });

  it('is empty in the first session, and no map is missed', () => {
    const tracked = createTracked(undefined);
    expect([from(1, 60).filter(tracked.isDone), tracked.isMapUnreadable]).toEqual([[], false]);
    expect(createTracked(fresh).isMapUnreadable).toBe(false);
  });

  it('is empty above the position when the map cannot be read', () => {
    const tracked = createTracked({ ...fresh, completed: withMap.completed.replace(/..$/, 'AA') });
    expect([from(1, 60).filter(tracked.isDone), tracked.isMapUnreadable]).toEqual([[], true]);
    expect(tracked.snapshot()?.progress).toEqual(fresh);
  });
});

describe('a crash record', () => {
  const crashRecord = { ends: 2, upTo: 13, alone: 11, suspects: new Map() };

  it.each([
    ['above the position of the checkpoint', 12, true],
    ['up to it', 13, false],
    ['of a partition without a checkpoint', undefined, false],
  ])('is open while its messages may be unfinished: %s', (_, sequenceNumber, expected) => {
    const tracked = createTracked(fresh);
    expect(tracked.isCrashRecordOpen(sequenceNumber)).toBe(false);
    tracked.recordCrashState(crashRecord);
    expect(tracked.isCrashRecordOpen(sequenceNumber)).toBe(expected);
  });
});

it('Messages beyond the redelivery horizon of the previous reader are not repeats', () => {
  const { look, redelivered, known } = createRedeliveryHorizon(7);
  expect([look(), redelivered(7, later), redelivered(8, later), known()]).toEqual([undefined, true, false, 7]);
});

it('Without a release, every event that the hub had at the first read of the session may be a repeat', async () => {
  let newest = 3;
  const redeliveryHorizon = createRedeliveryHorizon(
    async () => newest,
    () => {},
  );
  expect([redeliveryHorizon.known(), redeliveryHorizon.redelivered(1_000, later)]).toEqual([undefined, true]);
  newest = 7;
  await redeliveryHorizon.look();
  newest = 9;
  expect(redeliveryHorizon.look()).toBeUndefined();
  expect([
    redeliveryHorizon.redelivered(7, later),
    redeliveryHorizon.redelivered(8, later),
    redeliveryHorizon.known(),
  ]).toEqual([true, false, 7]);
});

it('The hub’s answer may be old: what it had received before it was first asked may be a repeat, too', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 });
  const answers = [Promise.reject(new Error('no answer')), Promise.resolve(7)];
  const { look, redelivered } = createRedeliveryHorizon(() => answers.shift() ?? Promise.resolve(0));
  await look();
  vi.setSystemTime(1_005_000);
  await look();
  const times = [999_999, 1_000_000, 1_004_999].map((time) => redelivered(8, new Date(time)));
  expect(times).toEqual([true, false, false]);
});

it('Without a redelivery horizon every message is a possible repeat, and it is asked for again', async () => {
  const troubles: string[] = [];
  const answers = [Promise.reject(new Error('no answer')), Promise.resolve(7)];
  const redeliveryHorizon = createRedeliveryHorizon(
    () => answers.shift() ?? Promise.resolve(0),
    (_error, what) => troubles.push(what),
  );
  await redeliveryHorizon.look();
  expect([redeliveryHorizon.redelivered(8, later), redeliveryHorizon.known()]).toEqual([true, undefined]);
  await redeliveryHorizon.look();
  expect([redeliveryHorizon.redelivered(8, later), redeliveryHorizon.known()]).toEqual([false, 7]);
  expect(troubles).toEqual(['newest event not known: every event counts as redelivered']);
});
