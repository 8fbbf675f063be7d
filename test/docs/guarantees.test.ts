import { expect, it } from 'vitest';
import { checkpointEveryMessages, timing } from '../../src/settings/groups/constants.ts';
import { readPage } from './markdown.ts';

it('docs/guarantees.md says what a crash repeats, as checkpoints are written', () => {
  const { checkpointSeconds } = timing;
  expect(readPage('guarantees.md')).toContain(`at most ${checkpointEveryMessages}, or those of ${checkpointSeconds} s`);
});
