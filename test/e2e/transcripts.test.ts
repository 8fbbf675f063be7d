import { beforeEach, describe, expect, it } from 'vitest';
import { stories } from '../../sandbox/stories/index.ts';
import { catalogue } from '../../src/messages/index.ts';
import { sandboxForAll } from './testSandbox.ts';
import { transcribe } from './transcript.ts';

// What the service has looked up once it remembers for longer than a story takes, on any machine.
const sandbox = sandboxForAll({ environment: { BACKENDS_CACHE_SECONDS: '3600' }, service: false });

it('The transcript exists for every message', () =>
  expect(stories.map(({ message }) => message).sort()).toEqual(catalogue.map(({ name }) => name).sort()));

describe('The transcript', () => {
  // Each story begins with the example world and a service that remembers nothing, whichever was told before.
  beforeEach(async () => {
    await sandbox.service?.stop();
    sandbox.backends.world.reset();
    await sandbox.startService();
  });

  it.each(stories)('of $message is up to date {S15.1 S17.1}', async (story) =>
    expect(await transcribe(story, sandbox)).toMatchFileSnapshot(`transcripts/${story.message}.txt`),
  );
});
