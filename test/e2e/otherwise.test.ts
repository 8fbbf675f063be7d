import { type Way, ways } from 'iot-hub-emulator';
import { expect, it, onTestFinished } from 'vitest';
import { expected } from '../../scripts/hubFacts/expected.ts';
import { serviceAt } from '../../scripts/hubFacts/service.ts';

/**
 * What does not get in another's way: the rest, and each of these alone, is for `npm run hub-facts -- --service`.
 */
const apart = ['reading.stale-info', 'reading.idle', 'c2d.quick', 'c2d.quota'];
const borne = (Object.keys(ways) as Way[]).filter(
  (way) => expected[way].works && !way.startsWith('methods.') && !apart.includes(way),
);

it('The service answers its messages, and goes on after a restart, at a hub that is otherwise than believed in all that it must bear', async () => {
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const { problems, events } = await serviceAt(borne, 120_000, ending.signal);
  expect(problems).toEqual([]);
  expect(events).toEqual(expect.arrayContaining(['partition.gap', 'replies.throttled']));
});
