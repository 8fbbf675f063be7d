import { expect, it, onTestFinished } from 'vitest';
import { createReadingTroubles } from '../../src/hub/reading/readingTroubles.ts';
import type { ReadingDiagnosis } from '../../src/observing/diagnosis.ts';
import { createTroubles } from '../../src/observing/log.ts';
import { recordingLog } from '../support/observed.ts';

const because = (cause: string): ReadingDiagnosis => ({
  ...{ cause, level: 'warn', hubSaid: `said of ${cause}`, todo: 'look', isAnswer: true },
});

function setUp() {
  const log = recordingLog();
  const shared = createTroubles(log);
  onTestFinished(() => shared.close());
  const troubles = createReadingTroubles(shared);
  return { troubles, said: () => log.lines.map(({ message, fields }) => `${message}: ${fields['cause']}`) };
}

it('the end of a trouble is reported once, when the last partition with it is read again', () => {
  const { troubles, said } = setUp();
  for (const place of ['0', '1', '0']) troubles.raise(place, because('a wrong key'));
  expect(said()).toEqual(['the hub cannot be read: a wrong key']);
  troubles.clear('0');
  expect([said().length, troubles.places(), troubles.of('0')]).toEqual([1, ['1'], undefined]);
  troubles.clear('1');
  troubles.clear('1');
  troubles.clear('never in trouble');
  expect(said().slice(1)).toEqual(['the hub can be read again: a wrong key']);
});

it('when a partition changes to another trouble, the end of the earlier one is reported only if no other partition has it', () => {
  const { troubles, said } = setUp();
  for (const place of ['0', '1']) troubles.raise(place, because('a wrong key'));
  troubles.raise('0', because('no network'));
  expect(said()).toEqual(['the hub cannot be read: a wrong key', 'the hub cannot be read: no network']);
  expect([troubles.of('0')?.cause, troubles.of('1')?.cause]).toEqual(['no network', 'a wrong key']);
  troubles.raise('1', because('no network'));
  expect(said().slice(2)).toEqual(['the hub can be read again: a wrong key']);
  for (const place of ['0', '1']) troubles.clear(place);
  expect(said().slice(3)).toEqual(['the hub can be read again: no network']);
});
