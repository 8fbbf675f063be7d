import { expect, it } from 'vitest';
import { enterEndpoint } from '../../../src/hub/endpoint/endpointRecord.ts';
import type { DurableText } from '../../../src/hub/stores/buildRecord.ts';

/** In memory; `before` is called before each write. */
function textIn(content: { text?: string }, before: () => void = () => undefined): DurableText {
  let version = 0;
  return {
    read: async () => (content.text === undefined ? undefined : { text: content.text, etag: String(version) }),
    async write(text, etag) {
      before();
      if (etag !== (content.text === undefined ? undefined : String(version))) return false;
      content.text = text;
      version += 1;
      return true;
    },
  };
}

const since = new Date('2026-11-25T12:00:00Z');
const after = new Date('2026-11-25T11:55:00Z');
const east = { namespace: 'east.example', eventHub: 'hub-1' };
const west = { namespace: 'west.example', eventHub: 'hub-2' };

it('the first endpoint of a hub has none before it, and no start position of its own', async () => {
  const record = textIn({});
  const first = { endpoint: { ...east, since }, others: [] };
  expect(await enterEndpoint(record, { ...east, since, after })).toEqual({ ...first, isNew: true });
  expect(await enterEndpoint(record, { ...east, since: after })).toEqual({ ...first, isNew: false });
});

it('another endpoint is begun where the first instance says that comes to it, by all of them', async () => {
  const record = textIn({});
  await enterEndpoint(record, { ...east, since });
  const entered = { ...west, since, after };
  const entry = { endpoint: entered, others: [{ ...east, since }] };
  expect(await enterEndpoint(record, entered)).toEqual({ ...entry, isNew: true });
  expect(await enterEndpoint(record, { ...west, since: after })).toEqual({ ...entry, isNew: false });
});

it('the way back is no new endpoint, whatever the case of its names', async () => {
  const record = textIn({});
  await enterEndpoint(record, { ...east, since });
  await enterEndpoint(record, { ...west, since, after });
  const back = await enterEndpoint(record, { namespace: 'East.Example', eventHub: 'HUB-1', since: after, after });
  expect(back).toEqual({ endpoint: { ...east, since }, others: [{ ...west, since, after }], isNew: false });
});

it('instances that come at the same time enter it once', async () => {
  const content: { text?: string } = {};
  const other = textIn(content);
  let isFirst = true;
  const record = textIn(content, () => {
    if (!isFirst) return;
    isFirst = false;
    content.text = JSON.stringify([{ ...east, since }]);
  });
  expect(await enterEndpoint(record, { ...west, since, after })).toMatchObject({ others: [east], isNew: true });
  expect(JSON.parse((await other.read())?.text ?? '')).toHaveLength(2);
});

it('a record that cannot be understood is replaced', async () => {
  const content = { text: '{"version":2}' };
  await enterEndpoint(textIn(content), { ...east, since });
  expect(JSON.parse(content.text)).toEqual([{ ...east, since: since.toISOString() }]);
});
