import { expect, test } from 'vitest';
import { startHub } from '../src/hub.ts';
import { hubForAll } from './support/sharedHub.ts';

// What programs without types write is refused with a sentence.

const hub = hubForAll();

test.each<[object, string]>([
  [{ partition: 4 }, 'there is no option partition'],
  [{ directory: 1 }, 'directory takes a text'],
  [{ partitions: 0 }, 'partitions is at least 1'],
  [{ partitions: '4' }, 'partitions takes a whole number'],
  [{ ports: { ampqs: 5671 } }, 'there is no option ports.ampqs'],
  [{ ports: { amqp: 65_536 } }, 'ports.amqp is at most 65535'],
  [{ devices: ['pump-1'] }, 'devices.0 takes a JSON object'],
  [{ rules: { tier: 'S4' } }, 'rules.tier takes S1, S2, S3'],
  [{ rules: { bounds: { jornal: 1 } } }, 'there is no option rules.bounds.jornal'],
  [{ sources: ['weather'] }, 'sources.0 takes '],
])('the options %j are refused: %s', async (wrong, sentence) => {
  const started = startHub({ directory: '/nowhere', ...wrong } as never);
  await expect(started).rejects.toThrow(`The hub cannot start so: ${sentence}`);
});

test('a fault that is none is refused in the words of the admin port, also in code', async () => {
  const wrong = { kind: 'drop', how: 'slowly' } as never;
  const sentence =
    'That is no fault: how takes fin, rst. All kinds and their fields: GET /faults/kinds of the admin port';
  expect(() => hub.faults.strike(wrong)).toThrow(sentence);
  expect(() => hub.faults.add({ kind: 'no-credit', link: 'up' } as never)).toThrow('link takes c2d, d2c, events');
  await expect(hub.faults.ask(wrong)).rejects.toThrow(sentence);
  expect(hub.faults.list()).toEqual([]);
});
