import { expect, it } from 'vitest';
import { showProgress } from './progress.ts';

function output(isTTY: boolean) {
  const written: string[] = [];
  const stream = { isTTY, columns: 20, write: (text: string) => written.push(text) > 0 };
  return { written, stream: stream as unknown as NodeJS.WriteStream };
}

it('the progress overwrites its last text on a terminal, and never writes a second line', () => {
  const { written, stream } = output(true);
  const progress = showProgress(stream, () => 0);
  progress.say('one');
  progress.say('two, and more than fits into a line');
  progress.clear();
  progress.clear();
  expect(written).toEqual(['one', '\r\u001b[K', 'two, and more than ', '\r\u001b[K']);
});

it('the progress is a line every five seconds without a terminal', () => {
  const { written, stream } = output(false);
  let now = 0;
  const progress = showProgress(stream, () => now);
  for (now = 0; now <= 11_000; now += 1_000) progress.say(`${now}`);
  progress.clear();
  expect(written).toEqual(['5000\n', '10000\n']);
});
