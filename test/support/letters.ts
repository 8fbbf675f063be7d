import { type Choice, chosenLetters, type StoredLetter } from '../../src/operations/deadLetterCommands.ts';
import type { DeadLetter, LetterStorage } from '../../src/stores/deadLetter.ts';
import { createDeadLetters, type DeadLetters } from '../../src/stores/deadLetterStore.ts';
import { createDirectory } from '../../src/stores/letterFiles.ts';
import type { DeadLetterLimits } from '../../src/stores/letterLimits.ts';
import { hubEvent } from './events.ts';

const roomy: DeadLetterLimits = {
  deviceLetters: 10,
  maxLetters: 100,
  deviceBytes: 100_000,
  maxBytes: 1_000_000,
  retentionMs: 3_600_000,
};

export function lettersIn(place: LetterStorage, limits: Partial<DeadLetterLimits> = {}, now: () => number = Date.now) {
  const warnings: string[] = [];
  const log = { warn: (_fields: unknown, text?: string) => void warnings.push(String(text)) };
  const open = () => Promise.resolve(place);
  return Object.assign(createDeadLetters({ open, limits: { ...roomy, ...limits }, log, now }), { warnings });
}

export const lettersInDirectory = (directory: string, limits: Partial<DeadLetterLimits> = {}): DeadLetters =>
  lettersIn(createDirectory(directory), limits);

const everything: Choice = { device: undefined, since: undefined, code: undefined };

/** The dead letters that are meant, in order; what is none ends the test. */
export async function allLetters(
  letters: Pick<DeadLetters, 'ids' | 'read'>,
  choice: Partial<Choice> = {},
): Promise<StoredLetter[]> {
  const all: StoredLetter[] = [];
  const found = chosenLetters(letters, { ...everything, ...choice }, (problem) => {
    throw problem;
  });
  for await (const letter of found) all.push(letter);
  return all;
}

export const letter = (sequenceNumber: number, more: Partial<DeadLetter> = {}): DeadLetter => ({
  ...{ deviceId: 'd1', generation: 'V2', origin: { hub: 'hub', partition: '0' } },
  event: hubEvent({
    sequenceNumber,
    properties: { msgType: 'action', n: String(sequenceNumber) },
    body: Buffer.from([0, 255, sequenceNumber]),
  }),
  ...{ code: 'timeout_exceeded', details: 'why', parkedAt: new Date('2026-01-02T03:04:05.678Z'), attempts: 1 },
  traceparent: '00-1-2-01',
  ...more,
});
