import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { deadLettersRoute } from '../../src/operations/serviceRoutes.ts';
import { idOf } from '../../src/stores/deadLetter.ts';
import { letter, lettersInDirectory } from '../support/letters.ts';

const directory = folderForEach('letters');

it('shows the dead letters that are meant, without bodies, up to the limit, and counts the unreadable', async () => {
  const store = lettersInDirectory(directory);
  for (const number of [1, 2, 3]) await store.park(letter(number, { details: 'backend is out' }));
  await store.park(letter(4, { deviceId: 'd2' }));
  const ask = (query: string) =>
    deadLettersRoute(store).get?.(new URLSearchParams(query)) as Promise<Record<string, object[]>>;

  const first = await ask('device=d1&limit=2');
  expect(first).toMatchObject({ isMore: true, unreadable: 0 });
  expect(first['deadLetters']?.map((one) => Object.keys(one))).toEqual(
    Array(2).fill('id device message code details attempts parkedAt partition sequenceNumber'.split(' ')),
  );
  expect(first['deadLetters']?.[0]).toMatchObject({ id: idOf(letter(1)), device: 'd1', details: 'backend is out' });
  expect(await ask('device=d2')).toMatchObject({ isMore: false, deadLetters: [{ device: 'd2' }] });
  const { event } = letter(5);
  for (const [number, properties] of [
    [5, { action: 'model.update' }],
    [6, { eventType: 'Svc.Device.Created' }],
  ] as const)
    await store.park(letter(number, { deviceId: `d${number}`, event: { ...event, properties } }));
  expect(await ask('device=d5')).toMatchObject({ deadLetters: [{ message: 'model.update' }] });
  expect(await ask('device=d6')).toMatchObject({ deadLetters: [{ message: 'Svc.Device.Created' }] });
  expect(await ask('code=none')).toEqual({ deadLetters: [], isMore: false, unreadable: 0 });
  writeFileSync(join(directory, `${idOf(letter(1))}.json`), '{');
  expect(await ask('')).toMatchObject({ unreadable: 1 });
  for (const wrong of ['limit=0', 'limit=x', 'devices=d1']) await expect(ask(wrong)).rejects.toThrow();
});

it.each([
  [1_000, false],
  [100_000, true],
])('reads a thousand of %i, and says whether there are more', async (parked, isMore) => {
  const ids = Array.from({ length: parked }, (_, number) => `letter-${number}`);
  let read = 0;
  const store = {
    ids: async () => ids,
    async read(id: string) {
      read += 1;
      return letter(ids.indexOf(id), { code: read === 1_000 ? 'rare' : 'http_response_error' });
    },
  };
  const ask = (query: string) => deadLettersRoute(store).get?.(new URLSearchParams(query));
  expect(await ask('code=rare')).toMatchObject({ deadLetters: [{ code: 'rare' }], isMore });
  expect(read).toBe(1_000);
});
