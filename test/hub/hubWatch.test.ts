import { expect, it, vi } from 'vitest';
import { createHubWatch } from '../../src/hub/reading/hubWatch.ts';
import { createTroubles } from '../../src/log/troubles.ts';
import { recordingLog } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { silence } from './support/replying.ts';

// When silence of the hub is a fault (D38).

withFakeTimers();

/** Two partitions are read up to 7. */
const partition = (eventlessSeconds: number, newest = 7) => ({ eventlessSeconds, newest });

it.each([
  ['a minute without events of a partition of which the hub has more', [partition(61, 8), partition(1)], ['0']],
  ['five minutes without events of all', [partition(301), partition(301)], []],
  ['no minute', [partition(59, 8), partition(1)], undefined],
  ['a minute without events of which the hub has none', [partition(61), partition(1)], undefined],
  ['five minutes without events of one', [partition(301), partition(299)], undefined],
  ['nothing to read', [], undefined],
])('it is connected again, or not, after %s', async (_, partitions, withheld) => {
  const log = recordingLog();
  const allTroubles = createTroubles(log);
  const reconnect = vi.fn();
  const connection = {
    ...{ revive() {}, reconnect },
    client: () => ({
      getPartitionProperties: async (id: string) => ({ lastEnqueuedSequenceNumber: partitions[Number(id)]?.newest }),
    }),
  };
  const sessions = partitions.map(({ eventlessSeconds }, index) => ({
    ...{ record: { partition: String(index) }, position: () => 7 },
    reader: { quiet: () => ({ eventlessMs: eventlessSeconds * 1_000 }) },
  }));
  const watch = createHubWatch(connection as never, { all: () => sessions, reading: () => sessions } as never, {
    ...{ answerMs: 20_000, everyMs: 10_000, silentMs: 11_000, log: silence, allTroubles },
  });
  watch.look();
  await vi.advanceTimersByTimeAsync(5_000);
  reconnect.mockClear(); // only now the hub has said what it has
  watch.look();
  expect([reconnect.mock.calls.length, log.lines.map(({ fields }) => fields)]).toEqual([
    withheld === undefined ? 0 : 1,
    withheld?.length ? [{ partitions: withheld }] : [],
  ]);
  allTroubles.close();
});
