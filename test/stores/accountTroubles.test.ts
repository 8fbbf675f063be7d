import { describe, expect, it, vi } from 'vitest';
import { createBlobStore } from '../../src/stores/blobCheckpoints.ts';
import { idOf } from '../../src/stores/deadLetter.ts';
import { createBlobs } from '../../src/stores/labelledBlobs.ts';
import { claimed } from '../hub/support/claims.ts';
import { letter, lettersIn } from '../support/letters.ts';
import { memoryAccount } from '../support/memoryAccount.ts';

// What the stores in an account do where the account answers in pages, late, or not at all, and where others write.

/** The next request of this kind gets this fate, and no other. */
function strikeOnce(account: ReturnType<typeof memoryAccount>, asked: RegExp, fate: 'lose' | number) {
  let struck = false;
  account.fate = (request) => {
    if (struck || !asked.test(request)) return 'pass';
    struck = true;
    return fate;
  };
}

const limits = { attemptMs: 4_000, attempts: 2, pauseMs: 1, verbMs: 12_000 };

describe('dead letters in an account', () => {
  const open = (pageSize = 5_000) => {
    const account = Object.assign(memoryAccount(), { pageSize });
    const place = createBlobs({ account: account.access, container: 'c', limits });
    return { account, place, letters: lettersIn(place) };
  };
  const ids = [1, 2, 3, 4, 5].map((number) => idOf(letter(number)));

  it('are all listed where others are written and deleted between two pages', async () => {
    const { account, letters } = open(2);
    for (const id of ids) account.put(`${id}.json`, '{}');
    let pages = 0;
    account.fate = (asked) => {
      if (asked.startsWith('LIST') && ++pages === 2) {
        account.blobs.delete(`${ids[1]}.json`);
        account.put(`${idOf(letter(0))}.json`, '{}');
      }
      return 'pass';
    };
    expect([await letters.ids(), pages]).toEqual([ids, 3]);
  });

  it('are listed by device where names of other blobs begin as its folder does', async () => {
    const { account, letters } = open();
    const own = idOf(letter(1));
    for (const name of [`${own}.json`, `${own.slice(0, 32)}0/x.json`, `${idOf(letter(1, { deviceId: 'd2' }))}.json`])
      account.put(name, '{}');
    account.put(`${own}.txt`, '{}');
    expect([await letters.ids('d1'), await letters.ids('another')]).toEqual([[own], []]);
  });

  it('are listed completely, however long all pages take together', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { account, letters } = open(1);
    for (const id of ids) account.put(`${id}.json`, '{}');
    account.fate = () => {
      vi.advanceTimersByTime(4_000);
      return 'pass';
    };
    const limit = vi.spyOn(AbortSignal, 'timeout');
    expect(await letters.ids()).toEqual(ids);
    expect(limit.mock.calls).toEqual(Array(6).fill([4_000])); // of the container, and of each page
  });

  it.each(['LIST', 'GET', 'PUT', 'DELETE'])('are not taken for missing or done when %s fails', async (verb) => {
    const { account, letters } = open();
    for (const status of [403, 409, 500]) {
      account.fate = (asked) => (asked.startsWith(verb) ? status : 'pass');
      const [id = ''] = ids;
      const calls = { LIST: letters.ids, GET: () => letters.read(id), PUT: () => letters.park(letter(1)) };
      const call = calls[verb as keyof typeof calls] ?? (() => letters.remove(id));
      await expect(call()).rejects.toMatchObject({ name: 'StorageError', status });
    }
  });

  it('are as old as their last writing', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { account } = open();
    const place = createBlobs({ account: account.access, container: 'c', limits });
    const letters = lettersIn(place, { retentionMs: 3_600_000 });
    await letters.park(letter(1));
    await letters.park(letter(2));
    await letters.tidy();
    vi.setSystemTime(Date.now() + 3_000_000);
    await letters.park(letter(1, { attempts: 2 }));
    vi.setSystemTime(Date.now() + 1_000_000);
    await letters.tidy();
    expect(await letters.ids()).toEqual([ids[0]]);
    vi.setSystemTime(Date.now() + 3_000_000);
    await letters.tidy();
    expect(await letters.ids()).toEqual([]);
  });

  it('are written within the time of a write, though it waits for others; a read has its time from its turn on', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const given: number[] = [];
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      given.push(ms);
      return new AbortController().signal;
    });
    const { account, place } = open();
    await place.write('made', '');
    given.length = 0;
    let goOn = () => {};
    const slow = new Promise<'pass'>((resolve) => (goOn = () => resolve('pass')));
    account.fate = () => slow;
    const before = Array.from({ length: 32 }, (_, number) => place.read(`${number}`));
    const waiting = [place.write('late', '{}'), place.read('made')];
    await new Promise(setImmediate);
    vi.advanceTimersByTime(9_000);
    goOn();
    await Promise.all([...before, ...waiting]);
    expect(given.toSorted()).toEqual([3_000, ...Array(33).fill(4_000)]);
  });
});

describe('checkpoints in an account', () => {
  const open = (more: Partial<typeof limits> = {}) => {
    const account = memoryAccount();
    const place = { container: 'c', namespace: 'n', hub: 'h', consumerGroup: 'g', limits: { ...limits, ...more } };
    const options = { account: account.access, ...place };
    return { account, options, store: createBlobStore(options), another: () => createBlobStore(options) };
  };
  const at = (sequenceNumber: number) => ({ sequenceNumber, offset: `o${sequenceNumber}`, completed: '' });
  async function claim(store: ReturnType<typeof createBlobStore>, partition = '0', epoch = 1) {
    const [seen] = (await store.ownerships()).filter((one) => one.partition === partition);
    const record = await store.change(seen, claimed('me', epoch, partition));
    if (record === undefined) throw new Error('not claimed');
    return record;
  }

  it('are all listed, page by page, and once where a page fails at first', async () => {
    const { account, store } = open();
    account.pageSize = 2;
    const partitions = ['0', '1', '2', '3', '4'];
    for (const partition of partitions) await store.writeCheckpoint(await claim(store, partition), at(7));
    let pages = 0;
    account.fate = (asked) => (asked.startsWith('LIST') && [2, 7].includes(++pages) ? 503 : 'pass');
    expect((await store.ownerships()).map(({ partition }) => partition)).toEqual(partitions);
    const checkpoints = (await store.checkpoints()).map(({ partition, at }) => [partition, at]);
    expect(checkpoints).toEqual(partitions.map((partition) => [partition, 7]));
  });

  it('of consumer groups and hubs whose names begin alike are apart', async () => {
    const { store, options } = open();
    const others = [{ consumerGroup: 'g0' }, { hub: 'h0' }, { namespace: 'n0' }];
    await store.writeCheckpoint(await claim(store), at(7));
    for (const other of others) {
      const away = createBlobStore({ ...options, ...other });
      expect([await away.ownerships(), await away.checkpoints()]).toEqual([[], []]);
      await away.writeCheckpoint(await claim(away, '1'), at(8));
    }
    expect((await store.ownerships()).map(({ partition }) => partition)).toEqual(['0']);
    expect((await store.checkpoints()).map(({ partition, at }) => [partition, at])).toEqual([['0', 7]]);
  });

  it.each<[string, (account: ReturnType<typeof memoryAccount>, name: string) => void]>([
    ['changed it', (account, name) => account.put(name, '', { ownerid: 'other', epoch: '9' })],
    ['deleted it', (account, name) => void account.blobs.delete(name)],
  ])('an ownership is not changed after another instance has %s', async (_what, interfere) => {
    const { account, store } = open();
    const seen = await claim(store);
    interfere(account, 'n/h/g/ownership/0');
    const before = account.blobs.get('n/h/g/ownership/0');
    expect(await store.change(seen, { ...seen, renewedAt: 5 })).toBeUndefined();
    expect(await store.change(seen, claimed('me', 2))).toBeUndefined();
    expect(account.blobs.get('n/h/g/ownership/0')).toBe(before);
  });

  it('a checkpoint that another instance writes in the same moment is not replaced', async () => {
    const { account, store } = open();
    const reader = await claim(store);
    const further = { sequencenumber: '50', offset: 'o50', epoch: '1', owner: 'me' };
    for (const first of [true, false]) {
      let struck = false;
      account.fate = (asked) => {
        if (!struck && asked === 'PUT n/h/g/checkpoint/0') {
          struck = true;
          account.put('n/h/g/checkpoint/0', '', { ...further, sequencenumber: first ? '50' : '60' });
        }
        return 'pass';
      };
      expect(await store.writeCheckpoint(reader, at(first ? 7 : 55))).toBe(true);
      expect(await store.progress('0')).toMatchObject({ sequenceNumber: first ? 50 : 60 });
    }
  });

  it('a write whose failure was reported, and which succeeded all the same, is continued by the next one', async () => {
    const { account, store } = open({ attempts: 1 });
    const reader = await claim(store);
    for (const number of [1, 3, 5]) {
      strikeOnce(account, /^PUT .*checkpoint/, 'lose');
      await expect(store.writeCheckpoint(reader, at(number))).rejects.toThrow('writing');
      expect(await store.progress('0')).toEqual(at(number));
      expect(await store.writeCheckpoint(reader, at(number + 1))).toBe(true);
      expect(await store.progress('0')).toEqual(at(number + 1));
    }
  });

  it('a claim whose failure was reported, and which succeeded all the same, is that of its owner', async () => {
    const { account, store } = open({ attempts: 1 });
    strikeOnce(account, /^PUT .*ownership/, 'lose');
    await expect(claim(store)).rejects.toThrow('writing');
    const [seen] = await store.ownerships();
    expect(seen).toMatchObject({ owner: 'me', epoch: 1 });
    expect(await store.writeCheckpoint({ partition: '0', owner: 'me', epoch: 1 }, at(4))).toBe(true);
  });

  it('a new reader of this process does not go on with what its last one has written', async () => {
    const { account, store } = open();
    const first = await claim(store);
    await store.writeCheckpoint(first, at(5));
    const second = await claim(store, '0', 2);
    expect(await store.writeCheckpoint(first, at(9))).toBe(false);
    account.put('n/h/g/checkpoint/0', '', { sequencenumber: '20', offset: 'o20', owner: 'next', epoch: '3' });
    account.put('n/h/g/ownership/0', '', { ownerid: 'next', epoch: '3' });
    expect(await store.writeCheckpoint(second, at(21))).toBe(false);
    expect(await store.progress('0')).toEqual(at(20));
  });

  it.each([403, 500])('are not taken for missing when the account answers %i', async (status) => {
    const { account, store } = open();
    account.fate = () => status;
    const calls = [store.ownerships, store.checkpoints, () => store.progress('0')];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ name: 'StorageError' });
  });

  it('each have their own time, however long the process has run', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { store } = open();
    const reader = await claim(store);
    for (const number of [1, 2, 3]) {
      vi.advanceTimersByTime(60_000);
      expect(await store.writeCheckpoint(reader, at(number))).toBe(true);
    }
  });
});
