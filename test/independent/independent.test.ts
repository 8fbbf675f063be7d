import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts';
import { firstSeed } from '../support/seed.ts';
import { answered, follow, register, seenBy, send } from './follow.ts';
import { beginnings, messages } from './generate.ts';
import type { Sent } from './model/steps.ts';

/** What the built service does, compared with a model that was written from the specification and imports nothing of it. */

const seed = firstSeed();
const perDevice = 12;
const ids = Array.from({ length: 40 }, (_, place) => `${place % 5 === 0 ? 'odd(=%)' : 'device'}-${place}`);

/** Its answer says that all before it is done. */
const mark = (correlationId: string): Sent => ({
  properties: { msgType: 'action', action: 'nothing', version: '2', correlationId, ack: 'all' },
  body: Buffer.from('{}'),
});

describe(`Devices that send what they like (seed ${seed})`, () => {
  const directory = folderForAll('independent');
  let sandbox: Sandbox;
  let seen: ReturnType<typeof seenBy>;
  const sent = new Map<string, readonly Sent[]>();

  beforeAll(async () => {
    sandbox = await startSandbox({ directory });
    for (const id of ids) await register(sandbox, id);
    ids.forEach((id, place) => {
      const [generated = []] = fc.sample(messages(place, perDevice), { seed: seed * 1000 + place, numRuns: 1 });
      sent.set(id, [mark('first'), ...beginnings(place), ...generated, mark('last')]);
    });
    const sendAll = async (some: (all: readonly Sent[]) => readonly Sent[], end: string) => {
      const done = answered(sandbox, ids, end);
      ids.forEach((id, place) => {
        send(sandbox, id, place, some(sent.get(id) ?? []));
      });
      await done;
    };
    // What a partition has when it is first read may have been handled before: other rules hold for that.
    await sendAll((all) => all.slice(0, 1), 'first');
    await sendAll((all) => all.slice(1), 'last');
    seen = seenBy(sandbox, ids);
  });
  afterAll(() => sandbox?.close());

  it.each(ids)('%s: the service’s calls and replies are those of the specification', (id) =>
    follow(id, sent.get(id) ?? [], seen.courses.get(id) ?? [], seen.calls),
  );
  it('are often valid: not all messages are refused before the first call', () => {
    const all = [...seen.courses.values()].flat();
    const successes = all.filter((one) => one.kind === 'reply' && one.reply.body.includes('"success":true'));
    expect(seen.calls.length).toBeGreaterThan(ids.length * perDevice * 1.5);
    expect(successes.length).toBeGreaterThan(ids.length * 3);
  });
});
