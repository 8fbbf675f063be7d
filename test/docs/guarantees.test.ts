import { expect, it } from 'vitest';
import { checkpointEveryMessages, timing } from '../../src/settings/groups/constants.ts';
import { readPage } from './markdown.ts';

it('docs/guarantees.md has the repeats after a crash that follow from the checkpoint settings', () => {
  const { checkpointSeconds } = timing;
  expect(readPage('guarantees.md')).toContain(`at most ${checkpointEveryMessages}, or those of ${checkpointSeconds} s`);
});
