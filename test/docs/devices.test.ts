import { describe, expect, it, onTestFinished } from 'vitest';
import { startBackends } from '../../sandbox/backends/backends.ts';
import { stories } from '../../sandbox/stories/index.ts';
import type { Story } from '../../sandbox/stories/story.ts';
import { propertiesOf } from '../../sandbox/stories/wire.ts';
import { catalogue } from '../../src/messages/index.ts';
import type { Reply } from '../../src/protocol/reply.ts';
import { resultCodes } from '../../src/protocol/vocabulary.ts';
import { settingsOf } from '../support/environment.ts';
import { hubEvent } from '../support/events.ts';
import { forever, receivedMessageOf, wire } from '../support/wiring.ts';
import { codesIn, readPage, tableOf } from './markdown.ts';

/** The service over the reference backends and their example world, without a hub: the same ids every time. */
async function startService() {
  const reference = await startBackends({ seed: true });
  const replies: Reply[] = [];
  const { backends, dispatch } = wire({
    settings: settingsOf(reference).backends,
    async send(reply) {
      replies.push(reply);
      return 'delivered';
    },
  });
  let sequenceNumber = 0;

  return {
    async send(device: string, properties: Readonly<Record<string, string>>, body: string): Promise<Reply[]> {
      sequenceNumber += 1;
      await dispatch(receivedMessageOf(hubEvent({ device, properties, body, sequenceNumber })), forever);
      return replies.splice(0);
    },
    async close() {
      await backends.close();
      await reference.close();
    },
  };
}

const page = readPage('devices.md');
const chapters = new Map(
  page.split(/^(?=##+ )/m).flatMap((text) => {
    const name = /^### `([\w.]+)`$/m.exec(text)?.[1];
    return name === undefined ? [] : [[name, text] as const];
  }),
);
const names = catalogue.map(({ name }) => name);
const deviceOf = ({ example: { device = 'pump-1' } }: Story) => device;

/** The replies to this story's example in a new world, after those of all stories before it; then to its repeat. */
async function play(story: Story) {
  const service = await startService();
  onTestFinished(() => service.close());
  const send = (one: Story) => service.send(deviceOf(one), propertiesOf(one.message, one.example), one.example.body);
  for (const earlier of stories.slice(0, stories.indexOf(story))) await send(earlier);
  return { replies: await send(story), again: await send(story) };
}

describe('docs/devices.md', () => {
  it('has a chapter for each message {S1.7}', () => expect([...chapters.keys()].toSorted()).toEqual(names.toSorted()));
  it('leads to the remedy for each result code', () => {
    const codes = tableOf(readPage('result-codes.md'), 'code').filter((row) => row['what the device should do']);
    expect(codes.flatMap(({ code = '' }) => codesIn(code))).toEqual(Object.keys(resultCodes));
  });
});

describe.each(stories)('the chapter on $message', (story) => {
  const text = chapters.get(story.message) ?? '';
  const card = catalogue.find(({ name }) => name === story.message);

  it('has a line for every property that the card reads', () => {
    for (const property of Object.keys(card?.headers.shape ?? {})) expect(text).toContain(`| \`${property}\``);
  });
  it('shows the replies to its example after the earlier examples {S5.5}', async () => {
    const { replies } = await play(story);
    expect(replies.map(({ properties, body }) => ({ properties, body: JSON.parse(body) }))).toEqual(
      story.example.replies.map(({ properties, body }) => ({ properties, body })),
    );
    expect(replies.every(({ deviceId }) => deviceId === deviceOf(story))).toBe(true);
  });
  it('describes the effect of a repeat {S9.10 S10.7 S12.4 S13.8 S14.5 S15.13 S16.6 S17.3}', async () => {
    const said = /^\*\*Repeated\*\*: (gives|succeeds|refused)/m.exec(text)?.[1];
    const { again } = await play(story);
    const { success, details = '' } = JSON.parse(again.at(-1)?.body ?? '');
    expect(success).toBe(said !== undefined && said !== 'refused');
    const [status] = /(?<=^\*\*Repeated\*\*: refused[^.]*, )HTTP \d{3}/m.exec(text) ?? [];
    if (status !== undefined) expect(details).toContain(`failed with ${status}`);
  });
});
