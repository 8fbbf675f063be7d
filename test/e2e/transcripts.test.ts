import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import type { BackendCall } from '../../sandbox/backends/calls/calls.ts';
import type { Device, Reply } from '../../sandbox/device/device.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { stories } from '../../sandbox/stories/index.ts';
import type { Story, StoryExchange } from '../../sandbox/stories/story.ts';
import { envelope } from '../../sandbox/stories/wire.ts';
import { unpack, visible } from '../../sandbox/terminal/showMessage.ts';
import { catalogue } from '../../src/messages/index.ts';
import { bodyOf, nextAck, sandboxForAll } from './testSandbox.ts';

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

const backendNames = {
  ...{ informationModel: 'information model', typeRegistry: 'type registry', principalManager: 'principal manager' },
  token: 'token endpoint',
};

/** Has devices send a story, in the example world, and answers all that was said, as text. */
async function transcribe(story: Story, sandbox: Sandbox): Promise<string> {
  const names = createNames();
  const { principals, objects } = sandbox.backends.world;
  for (const { id, path } of principals.list()) names.give(id, `<identity ${path}>`);
  for (const { objectId, name = '' } of objects.list()) names.give(objectId, `<object ${name}>`);
  for (const chosen of JSON.stringify(story.exchanges).match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? [])
    names.give(chosen, chosen);

  const devices = new Map<string, Device>();
  const parts = [`# ${story.message}\n`];
  try {
    for (const said of story.exchanges) {
      const { device: id = 'pump-1' } = said;
      const device = devices.get(id) ?? (await sandbox.connect(id));
      devices.set(id, device);
      parts.push(await perform(said, story, device, sandbox, names));
    }
  } finally {
    await Promise.all([...devices.values()].map((device) => device.close()));
  }
  return parts.join('\n');
}

async function perform(
  said: StoryExchange,
  story: Story,
  device: Device,
  sandbox: Sandbox,
  names: Names,
): Promise<string> {
  const { journal, faults } = sandbox.backends;
  const sent = compose(said, story.message, names);
  const mark = journal.last;
  if (said.fault) faults.add(said.fault);
  const replies = await everyReply(device, sent);
  faults.clear();

  const lines = [`## ${said.title}`, message(`${device.id} sends`, sent, names)];
  const calls = sandbox.backends.calls({ since: mark, deviceId: device.id }).map((call) => words(call, names));
  if (said.hasConcurrentReads) calls.sort();
  const answer = [...calls];
  for (const reply of replies) answer.push(message(`${device.id} receives`, reply, names));
  if (replies.length === 0) answer.push(`${device.id} receives nothing`);
  if (said.isPreparation) expect(replies.map(bodyOf).at(-1), said.title).toMatchObject({ success: true });
  else lines.push(...answer);
  return `${lines.join('\n')}\n`;
}

function compose(
  { message, id, properties = {}, without = '', body, isCompressed }: StoryExchange,
  otherwise: string,
  names: Names,
) {
  const filled = Object.entries({ ...envelope(message ?? otherwise, id), ...properties }).map(
    ([key, value]) => [key, names.fill(value)] as const,
  );
  const text = names.fill(typeof body === 'string' ? body : JSON.stringify(body));
  return {
    properties: Object.fromEntries(filled.filter(([key]) => key !== without)),
    body: Buffer.from(isCompressed ? gzipSync(text).toString('base64') : text),
  };
}

/**
 * What a device gets for a message. One device's messages are answered in order: when another one after it, which no
 * backend hears of, is answered, there is nothing more to come.
 */
async function everyReply(device: Device, { properties, body }: Pick<Reply, 'properties' | 'body'>): Promise<Reply[]> {
  await Promise.all([device.send(properties, body), device.send(envelope('the.end', 'the-end'), Buffer.from('null'))]);
  const replies: Reply[] = [];
  for (;;) {
    const { notifications, ack } = await nextAck(device);
    replies.push(...notifications);
    if (ack.properties['action'] === 'the.end') return replies;
    replies.push(ack);
  }
}

/** As in the guide for devices: `name=value  name=value`, and the body to the letter, unpacked. */
function message(what: string, { properties, body }: Pick<Reply, 'properties' | 'body'>, names: Names): string {
  const pairs = Object.entries(properties).map(([name, value]) => `${name}=${value}`);
  const [given, text] = [pairs.join('  '), unpack({ properties, body }).toString()].map((part) =>
    visible(names.hide(part)),
  );
  return `${what}  ${given}\n    ${text}`;
}

/** A call of a backend, its bodies to the letter. */
function words({ backend, method, path, body, status, answer, fault }: BackendCall, names: Names): string {
  const asked = `${backendNames[backend].padEnd(17)}  ${method} ${path}${body === '' ? '' : `  > ${body}\n`}`;
  const answered =
    fault && status === null ? 'nothing: the connection is cut after the effect' : `${status} ${answer ?? ''}`;
  return names.hide(`${asked}  < ${answered}`.trimEnd());
}

const guid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const errorId = new RegExp(`"id":"${guid}","meta"`, 'g');
const timestamp = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

/**
 * Names for what is different in each run. A GUID is named when it comes up first, `<objectId 1>` or `<id 1>` where it
 * stands under the key `id`. A time is `<timestamp>`.
 */
type Names = ReturnType<typeof createNames>;

function createNames() {
  const names = new Map<string, string>();
  const guids = new Map<string, string>();
  const counts = { objectId: 0, id: 0 };

  /** From now on the GUID goes by this name. */
  function give(guid: string, name: string): string {
    names.set(guid, name);
    guids.set(name, guid);
    return name;
  }

  return {
    give,
    /** GUIDs and times give way to names. */
    hide: (text: string) =>
      text
        .replaceAll(errorId, '"id":"<error id>","meta"')
        .replaceAll(new RegExp(`(\\bid[\\s":=]+)?(${guid})`, 'g'), (_all, key: string | undefined, found: string) => {
          const kind = key === undefined ? 'objectId' : 'id';
          return `${key ?? ''}${names.get(found) ?? give(found, `<${kind} ${++counts[kind]}>`)}`;
        })
        .replaceAll(timestamp, '<timestamp>'),
    /** Names give way to the GUIDs that they stand for. Throws when one has not come up. */
    fill: (text: string) =>
      text.replaceAll(/<(?:objectId|id|identity|object) [^<>]+>/g, (name) => {
        const found = guids.get(name);
        if (found === undefined) throw new Error(`${name} has not come up`);
        return found;
      }),
  };
}
