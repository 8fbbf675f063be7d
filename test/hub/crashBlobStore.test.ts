import { expect, it } from 'vitest';
import { startForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { createBlobStore } from '../../src/stores/blobCheckpoints.ts';
import { type Fate, startLossyProxy } from '../support/lossyProxy.ts';
import { storageForAll } from '../support/storageAccount.ts';
import { takeOver } from './support/claims.ts';
import { at, readingLife, type Told, toldNothing } from './support/readingLife.ts';

// An instance dies before, or after, each of its requests to the storage; or a request of it is on its way until another
// instance has taken over. Each verb of the store is several requests, so there are states that no verb leaves behind.

const storage = storageForAll();
const proxy = startForAll(() => startLossyProxy(storage.port));
let group = 0;

const limits = { attemptMs: 5_000, attempts: 1, pauseMs: 1, verbMs: 15_000 };
const open = (port: number) =>
  createBlobStore({
    ...{ account: storage.at(port), container: 'deaths', namespace: 'hub.example', hub: 'devices' },
    ...{ consumerGroup: `group${group}`, limits },
  });

/** A life over a fresh place in the storage. */
async function live(fate: () => Fate | Promise<Fate>, told: Told) {
  group += 1;
  proxy.fate = fate;
  await readingLife(open(proxy.port), told);
}

async function requestsOfALife(): Promise<number> {
  let count = 0;
  const told = toldNothing();
  await live(() => {
    count += 1;
    return 'pass';
  }, told);
  expect(told.written).toBe(20);
  return count;
}

/** What the next one finds and can do. */
async function expectNextOwner(told: Told, place: string) {
  const nextOwner = open(storage.port);
  const record = await takeOver(nextOwner, 'next');
  expect(record.epoch, place).toBeGreaterThan(told.epoch);
  const found = await nextOwner.progress('0');
  const { sequenceNumber = -1 } = found ?? {};
  if (found) expect(found, place).toEqual(at(sequenceNumber));
  expect(sequenceNumber, place).toBeGreaterThanOrEqual(told.written);
  expect(sequenceNumber, place).toBeLessThanOrEqual(told.given);
  return { nextOwner, record, found };
}

it('an instance that dies before or after any request leaves all confirmed changes, and the next one continues from them', async () => {
  const requests = await requestsOfALife();
  for (let request = 1; request <= requests; request += 1) {
    for (const last of ['hang', 'lose'] as const) {
      const told = toldNothing();
      let count = 0;
      await new Promise<void>((dead) => {
        const fate = () => {
          count += 1;
          if (count > request || (count === request && last === 'hang')) dead();
          return count < request ? 'pass' : count === request ? last : 'hang';
        };
        live(fate, told).then(dead, () => dead());
      });
      const place = `died ${last === 'hang' ? 'before' : 'after'} request ${request} of ${requests}`;
      const { nextOwner, record } = await expectNextOwner(told, place);
      expect(await nextOwner.writeCheckpoint(record, at(30)), place).toBe(true);
      expect(await nextOwner.progress('0'), place).toEqual(at(30));
    }
  }
});

it.each(['before', 'after'])(
  'a request that arrives after a takeover, %s the first checkpoint of the new owner, has no effect',
  async (when) => {
    const requests = await requestsOfALife();
    for (let late = 1; late <= requests; late += 1) {
      const told = toldNothing();
      let count = 0;
      let arrive = () => {};
      let life = Promise.resolve();
      await new Promise<void>((isLate) => {
        const delayed = new Promise<Fate>((resolve) => (arrive = () => resolve('pass')));
        life = live(() => {
          count += 1;
          if (count !== late) return 'pass';
          isLate();
          return delayed;
        }, told);
      });
      const place = `request ${late} of ${requests} was late`;
      const { nextOwner, record, found } = await expectNextOwner(told, place);
      if (when === 'after') expect(await nextOwner.writeCheckpoint(record, at(30)), place).toBe(true);
      arrive();
      await life;
      // Where there was no checkpoint yet, the late one may become the first: it says what is done.
      if (when === 'after' || found)
        expect(await nextOwner.progress('0'), place).toEqual(when === 'after' ? at(30) : found);
      expect(await nextOwner.writeCheckpoint(record, at(31)), place).toBe(true);
      expect(await nextOwner.progress('0'), place).toEqual(at(31));
      expect(await nextOwner.ownerships(), place).toMatchObject([{ owner: 'next', epoch: record.epoch }]);
    }
  },
);
