import { expect, it } from 'vitest';
import { boundsOf, revocationsIn, unwrittenIn } from './bounds.ts';
import { uncoveredMessages } from './stage.ts';

const at = (second: number) => Date.UTC(2026, 0, 1, 0, 0, second);
const time = (second: number) => new Date(at(second)).toISOString();

it('A partition that an instance lost may repeat messages without a checkpoint, and those handled while the store failed', async () => {
  const lost = {
    msg: 'another instance reads this partition now',
    partition: '1',
    time: time(9),
    noticedBy: 'checkpoint',
  };
  const interruptions = revocationsIn([{ msg: 'partition released', partition: '2', time: time(9) }, lost]);
  const handled = { id: 'a', code: 'ok', dropped: 0, remarks: 0 };
  const lines = [
    { ...handled, partition: '1', at: at(6) },
    { ...handled, partition: '1', at: at(8) },
    { ...handled, partition: '2', at: at(8) },
  ];
  const storeTroubles = [{ from: at(7), to: at(8) }];
  expect(await boundsOf({ interruptions, storeTroubles }, lines)).toEqual(new Map([['1', uncoveredMessages + 1]]));
});

it('After a standstill every released partition may repeat as much, also one whose reading began after it', async () => {
  const stoodStill = { event: 'partitions.stood_still', partitions: ['2', '3'], time: time(9) };
  const interruptions = revocationsIn([{ event: 'partition.reading', partition: '2', time: time(8) }, stoodStill]);
  const bounds = new Map(['2', '3'].map((partition) => [partition, uncoveredMessages]));
  expect(await boundsOf({ interruptions, storeTroubles: [] }, [])).toEqual(bounds);
});

it('A stop without its last checkpoint may repeat messages of that partition, but none that the store has taken', () => {
  const starting = { msg: 'starting' };
  const unwritten = (partition: string) => ({ event: 'checkpoint.not_written', partition });
  const written = { event: 'trouble.over', trouble: 'checkpoint.not_written', partition: '2' };
  const released = { event: 'partition.released', partition: '3' };
  const stopped = { event: 'program.stopped', time: time(9) };
  const observation = [starting, unwritten('1'), unwritten('2'), written, unwritten('3'), released];
  expect(unwrittenIn([...observation, stopped, starting, unwritten('4')])).toEqual([{ at: at(9), of: '1' }]);
});
