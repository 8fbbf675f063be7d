import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { catalogue } from '../../src/messages/index.ts';
import { resultCodes } from '../../src/protocol/codes.ts';
import { type Chapter, chaptersOf, jsonBlocks, messageNamesIn } from './guide.ts';
import { codesIn, readPage, tableOf } from './markdown.ts';
import { startService } from './service.ts';

const page = readPage('devices.md');
const chapters = chaptersOf(page);
const names = catalogue.map(({ name }) => name);

const common = ['msgType', 'action', 'svc-messagetype', 'eventType', 'version', 'correlationId', 'id', 'ack'];

/** The replies to this chapter's request in a new world, after those of all chapters before it; then to its repeat. */
async function play(chapter: Chapter) {
  const service = await startService();
  onTestFinished(() => service.close());
  const send = ({ command, request }: Chapter) => service.send(command.device, request.properties, request.body);
  for (const earlier of chapters.slice(0, chapters.indexOf(chapter))) await send(earlier);
  return { replies: await send(chapter), again: await send(chapter) };
}

describe('docs/devices.md', () => {
  it('has a chapter for each message', () => {
    expect(chapters.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  });

  it('mentions no message that there is not', () => {
    const later = ['model.query']; // R8
    expect(new Set(messageNamesIn(page).filter((name) => !later.includes(name)))).toEqual(new Set(names));
  });

  it('says what to do on each result code', () => {
    const codes = tableOf(page, 'code').filter((row) => row['what the device should do']);
    expect(codes.flatMap(({ code = '' }) => codesIn(code))).toEqual(Object.keys(resultCodes));
  });

  it.each(jsonBlocks(page).map((json) => ({ json })))('has well-formed JSON: $json', ({ json }) => {
    expect(() => JSON.parse(json)).not.toThrow();
  });
});

describe.each(chapters)('what the guide says on $name', (chapter) => {
  const { name, text, command, request } = chapter;
  const card = catalogue.find((one) => one.name === name);

  it('has a line for every property that the card reads', () => {
    for (const property of Object.keys(card?.headers.shape ?? {})) expect(text).toContain(`| \`${property}\``);
  });

  it('shows the message that its command sends', () => {
    expect(request.properties[card?.generation === 'V1' ? 'eventType' : 'action']).toBe(name);
    expect(command.name).toBe(name);
    const own = Object.entries(request.properties).filter(([property]) => !common.includes(property));
    expect(own.map(([property, value]) => `${property}=${value}`)).toEqual(command.props);
    expect(request.body).toBe(readFileSync(command.file, 'utf8'));
  });

  it('shows the replies that come when everything further up has been sent', async () => {
    const { replies } = await play(chapter);
    expect(replies.map(({ properties, body }) => ({ properties, body: JSON.parse(body) }))).toEqual(
      chapter.replies.map(({ properties, body }) => ({ properties, body: JSON.parse(body) })),
    );
    expect(replies.every(({ deviceId }) => deviceId === command.device)).toBe(true);
  });

  it('says what happens when it is repeated', async () => {
    const said = /^\*\*Repeated\*\*: (gives|succeeds|refused)/m.exec(text)?.[1];
    const { again } = await play(chapter);
    expect(JSON.parse(again.at(-1)?.body ?? '').success).toBe(said !== undefined && said !== 'refused');
  });
});
