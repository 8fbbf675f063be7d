import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import type { Dispatch } from '../../src/dispatch/dispatch.ts';
import { chosenLetters } from '../../src/operations/deadLetterCommands.ts';
import { type ReplayOptions, rememberingFailures, replay } from '../../src/operations/replay.ts';
import type { ReceivedMessage } from '../../src/protocol/event.ts';
import { folderOf, idOf } from '../../src/stores/deadLetter.ts';
import type { DeadLetters } from '../../src/stores/deadLetterStore.ts';
import { allLetters, letter, lettersInDirectory } from '../support/letters.ts';
import { signal } from '../support/waiting.ts';

const directory = folderForEach('letters');
let store: DeadLetters;
beforeEach(() => (store = lettersInDirectory(directory)));

const of = (deviceId: string, number: number) => letter(number, { deviceId });
const nameOf = ({ deviceId, event }: Pick<ReceivedMessage, 'deviceId' | 'event'>) =>
  `${deviceId} ${event.sequenceNumber}`;
const remaining = async () => (await allLetters(store)).map((one) => nameOf(one.letter)).sort();

/** Work that ends when the test says so. */
function byHand() {
  const begun: string[] = [];
  const ends = new Map<string, (isDone: boolean) => void>();
  const dispatch: Dispatch = (receivedMessage) => {
    begun.push(nameOf(receivedMessage));
    return new Promise((resolve) => ends.set(nameOf(receivedMessage), resolve));
  };
  const end = async (name: string, isDone = true) => {
    await expect.poll(() => ends.has(name)).toBe(true);
    ends.get(name)?.(isDone);
  };
  return { begun, end, dispatch };
}

/** Replays what lies there. */
async function replayAll(more: Partial<ReplayOptions> & Pick<ReplayOptions, 'dispatch'>, ids?: string[]) {
  const remarks: string[] = [];
  const progress: string[] = [];
  const counts = await replay(ids ?? (await store.ids()), {
    ...{ deadLetters: store, failureOf: () => undefined, dependenciesOf: () => undefined },
    ...{ stopping: new AbortController().signal, width: 4, remark: (text) => remarks.push(text) },
    progress: (done, all) => progress.push(`${done}/${all}`),
    ...more,
  });
  return { counts, remarks, progress };
}

const succeed = () => Promise.resolve(true);
const nothing = { handled: 0, failed: 0, heldBack: 0, left: 0, gone: 0, unreadable: 0 };

describe('replaying', () => {
  it('handles each device’s dead letters in order, devices concurrently, and deletes those that succeed', async () => {
    for (const one of [of('a', 2), of('a', 1), of('b', 1), of('b', 2)]) await store.park(one);
    const { begun, end, dispatch } = byHand();
    const replaying = replayAll({ dispatch });
    await expect.poll(() => [...begun].sort()).toEqual(['a 1', 'b 1']);
    await end('b 1');
    await end('b 2');
    await end('a 1');
    await end('a 2');
    const { counts, progress } = await replaying;
    expect(begun).toHaveLength(4);
    expect(counts).toEqual({ ...nothing, handled: 4 });
    expect(progress).toEqual(['1/4', '2/4', '3/4', '4/4']);
    expect(await store.ids()).toEqual([]);
  });

  it('never exceeds its number of concurrent devices', async () => {
    for (const device of ['a', 'b', 'c']) await store.park(of(device, 1));
    const { begun, end, dispatch } = byHand();
    const replaying = replayAll({ dispatch, width: 2 });
    await expect.poll(() => begun.length).toBe(2);
    await end(begun[0] as string);
    await expect.poll(() => begun.length).toBe(3);
    for (const name of begun) await end(name);
    await replaying;
  });

  it('marks the message as a possible repeat, with how often it was parked', async () => {
    await store.park(letter(1, { attempts: 3 }));
    const seen: ReceivedMessage[] = [];
    await replayAll({
      async dispatch(receivedMessage, { charge, ended }) {
        charge.shrink(1);
        charge.aside();
        if (!ended.aborted) seen.push(receivedMessage);
        return true;
      },
    });
    expect(seen).toMatchObject([{ redelivered: true, attempts: 3, origin: { hub: 'hub', partition: '0' } }]);
  });

  it('parks a dead letter that fails again under the same id, and skips the device’s later ones', async () => {
    for (const one of [of('a', 1), of('a', 2), of('a', 3), of('b', 1)]) await store.park(one);
    const { deadLetters, failureOf } = rememberingFailures(store);
    const { counts, remarks, progress } = await replayAll({
      failureOf,
      async dispatch({ deviceId, event, generation, origin, attempts = 0 }) {
        if (deviceId === 'b' || event.sequenceNumber === 1) return true;
        const more = { code: 'internal_platform_error', details: 'again', parkedAt: new Date(), traceparent: '' };
        await deadLetters.park({ deviceId, event, generation, origin, attempts: attempts + 1, ...more });
        return true;
      },
    });
    expect(counts).toEqual({ ...nothing, handled: 2, failed: 1, heldBack: 1 });
    expect(progress.at(-1)).toBe('4/4');
    expect(remarks).toEqual([`${idOf(of('a', 2))} failed again: internal_platform_error, again`]);
    const left = (await allLetters(store)).map((one) => `${nameOf(one.letter)}: ${one.letter.attempts}`);
    expect(left).toEqual(['a 2: 2', 'a 3: 1']);
  });

  it('keeps a dead letter that fails again and cannot be parked', async () => {
    await store.park(of('a', 1));
    const full = { ...store, park: () => Promise.reject(new Error('no space left')) };
    const { deadLetters, failureOf } = rememberingFailures(full);
    const { counts } = await replayAll({
      failureOf,
      dispatch: async ({ event }) => {
        await deadLetters.park({ ...of('a', 1), event }).catch(() => undefined);
        return true;
      },
    });
    expect(counts).toEqual({ ...nothing, failed: 1 });
    expect(await remaining()).toEqual(['a 1']);
  });

  it('begins no other when it is stopped: those in progress end, the rest is counted and stays', async () => {
    for (const one of [of('a', 1), of('a', 2), of('b', 1), of('b', 2), of('b', 3)]) await store.park(one);
    const { begun, end, dispatch } = byHand();
    const stopping = new AbortController();
    const replaying = replayAll({ dispatch, stopping: stopping.signal, width: 1 });
    await expect.poll(() => begun.length).toBe(1);
    stopping.abort();
    await end(begun[0] as string);
    expect((await replaying).counts).toEqual({ ...nothing, handled: 1, left: 4 });
    expect(await remaining()).toHaveLength(4);
  });

  it('counts a dead letter as left whose message waits for a backend when it is stopped', async () => {
    for (const number of [1, 2]) await store.park(of('a', number));
    const stopping = new AbortController();
    const { counts } = await replayAll({
      stopping: stopping.signal,
      async dispatch() {
        stopping.abort();
        return false;
      },
    });
    expect(counts).toEqual({ ...nothing, left: 2 });
    expect(await remaining()).toEqual(['a 1', 'a 2']);
  });

  it('counts a dead letter as left whose backend is out until it is stopped', async () => {
    for (const number of [1, 2]) await store.park(of('a', number));
    const { begun, dispatch } = byHand();
    const stopping = new AbortController();
    const endings: AbortSignal[] = [];
    const dependenciesOf = () => ({
      areAvailable: () => false,
      async met(ending: AbortSignal) {
        endings.push(ending);
        stopping.abort();
        return false;
      },
    });
    const { counts } = await replayAll({ dispatch, dependenciesOf, stopping: stopping.signal });
    expect([counts, begun]).toEqual([{ ...nothing, left: 2 }, []]);
    expect(endings.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('skips a device whose dead letter has no result, and continues with the others', async () => {
    for (const one of [of('a', 1), of('a', 2), of('b', 1)]) await store.park(one);
    const { counts } = await replayAll({ dispatch: async ({ deviceId }) => deviceId !== 'a' });
    expect(counts).toEqual({ ...nothing, handled: 1, heldBack: 2 });
    expect(await remaining()).toEqual(['a 1', 'a 2']);
  });

  it('waits for an unavailable backend, and delays no device that does not need it', async () => {
    await store.park(of('a', 1));
    await store.park(of('b', 1));
    const { given: back, give: isBack } = signal<boolean>();
    const begun: string[] = [];
    const dispatch: Dispatch = async (receivedMessage) => {
      begun.push(nameOf(receivedMessage));
      return true;
    };
    const dependenciesOf = ({ deviceId: id }: ReceivedMessage) => ({ areAvailable: () => id !== 'a', met: () => back });
    const replaying = replayAll({ dispatch, dependenciesOf });
    await expect.poll(remaining).toEqual(['a 1']);
    expect(begun).toEqual(['b 1']);
    isBack(true);
    expect((await replaying).counts).toEqual({ ...nothing, handled: 2 });
    expect(begun).toEqual(['b 1', 'a 1']);
  });

  it('continues when another process has taken dead letters meanwhile', async () => {
    for (const number of [1, 2, 3]) await store.park(of('a', number));
    const { counts } = await replayAll({
      async dispatch({ event }) {
        if (event.sequenceNumber === 1) {
          for (const number of [1, 2]) await lettersInDirectory(directory).remove(idOf(of('a', number)));
        }
        return true;
      },
    });
    expect(counts).toEqual({ ...nothing, handled: 2, gone: 1 });
  });

  it('skips a device when the service has handled a newer message of it, and names that message', async () => {
    for (const one of [of('a', 1), of('a', 2), of('a', 3), of('a', 4), of('b', 1)]) await store.park(one);
    const { counts, remarks } = await replayAll({
      async dispatch({ deviceId, event }) {
        if (nameOf({ deviceId, event }) === 'a 1') await lettersInDirectory(directory).remove(idOf(of('a', 3)));
        return true;
      },
    });
    expect(counts).toEqual({ ...nothing, handled: 2, heldBack: 3 });
    const [tried, newer] = [idOf(of('a', 2)), idOf(of('a', 3))];
    expect(remarks).toEqual([`${tried} is not tried: ${newer}, which is newer, has been handled meanwhile`]);
    expect(await remaining()).toEqual(['a 2', 'a 4']);
  });

  it('skips a device when it is unknown whether a newer message of it was handled', async () => {
    for (const number of [1, 2]) await store.park(of('a', number));
    const deadLetters = { ...store, ids: () => Promise.reject(new Error('no answer')) };
    const { counts, remarks } = await replayAll({ dispatch: succeed, deadLetters }, await store.ids());
    expect(counts).toEqual({ ...nothing, failed: 1, heldBack: 1 });
    expect(remarks).toEqual(['no answer']);
    expect(await remaining()).toEqual(['a 1', 'a 2']);
  });

  it('continues after an unreadable dead letter, and names it', async () => {
    for (const number of [1, 2, 3]) await store.park(of('a', number));
    const id = idOf(of('a', 2));
    writeFileSync(join(directory, `${id}.json`), '{');
    const { counts, remarks } = await replayAll({ dispatch: succeed });
    expect(counts).toEqual({ ...nothing, handled: 2, unreadable: 1 });
    expect(remarks).toEqual([`${id} is no dead letter of format 1`]);
    expect(readdirSync(join(directory, folderOf('a')))).toHaveLength(1);
  });

  it('skips a device whose dead letter cannot be reached, and continues with the others', async () => {
    for (const one of [of('a', 1), of('a', 2), of('b', 1)]) await store.park(one);
    const id = idOf(of('a', 1));
    const read = (one: string) => (one === id ? Promise.reject(new Error(`no answer about ${id}`)) : store.read(one));
    const { counts, remarks } = await replayAll({ dispatch: succeed, deadLetters: { ...store, read } });
    expect(counts).toEqual({ ...nothing, handled: 1, failed: 1, heldBack: 1 });
    expect(remarks).toEqual([`no answer about ${id}`]);
  });

  it('reports a handled dead letter that cannot be deleted', async () => {
    await store.park(of('a', 1));
    const deadLetters = { ...store, remove: () => Promise.reject(new Error('read-only')) };
    const { counts, remarks } = await replayAll({ dispatch: succeed, deadLetters });
    expect(counts).toEqual({ ...nothing, handled: 1 });
    expect(remarks).toEqual([`${idOf(of('a', 1))} has been handled, but stays: read-only`]);
  });
});

describe('choosing dead letters', () => {
  const choice = { device: undefined, since: undefined, code: undefined };

  it.each([
    [{ device: 'd2' }, [2]],
    [{ code: 'timeout_exceeded' }, [1]],
    [{ since: new Date('2026-01-15') }, [2]],
    [{ since: new Date('2026-02-01') }, [2]],
    [{ before: new Date('2026-02-01') }, [1]],
    [{}, [1, 2]],
    [{ device: 'd1', code: 'internal_platform_error' }, []],
  ])('by %j', async (choice, expected) => {
    await store.park(letter(1));
    const other = { deviceId: 'd2', code: 'internal_platform_error', parkedAt: new Date('2026-02-01') };
    await store.park(letter(2, other));
    expect((await allLetters(store, choice)).map((one) => one.letter.event.sequenceNumber).sort()).toEqual(expected);
  });

  it('skips files that are not dead letters, and names them', async () => {
    await store.park(letter(1));
    writeFileSync(join(directory, 'notes.json'), 'secret');
    const problems: string[] = [];
    const found: string[] = [];
    for await (const { id } of chosenLetters(store, choice, ({ message }) => problems.push(message))) found.push(id);
    expect(found).toEqual([idOf(letter(1))]);
    expect(problems).toEqual(['notes is no name of a dead letter']);
  });

  it('ends when the store cannot be reached, instead of skipping its contents', async () => {
    const away = { ids: async () => [idOf(letter(1))], read: () => Promise.reject(new Error('no answer')) };
    const passedOver: unknown[] = [];
    await expect(chosenLetters(away, choice, (one) => passedOver.push(one)).next()).rejects.toThrow('no answer');
    expect(passedOver).toEqual([]);
  });

  it('has only a few dead letters in memory, however many there are', async () => {
    let [reads, taken, most] = [0, 0, 0];
    const many = {
      ids: () => Promise.resolve(Array.from({ length: 1_000 }, (_, n) => idOf(letter(n)))),
      async read() {
        reads += 1;
        most = Math.max(most, reads - taken);
        return letter(1);
      },
    };
    for await (const _ of chosenLetters(many, choice, () => {})) taken += 1;
    expect([taken, most]).toEqual([1_000, 16]);
  });
});
