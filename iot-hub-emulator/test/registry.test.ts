import { beforeEach, describe, expect, test } from 'vitest';
import { parseFilter } from '../src/amqp/filter.ts';
import { createOwners, type Owners } from '../src/amqp/owners.ts';
import { stableHash } from '../src/events/events.ts';
import { createPresence, type Presence } from '../src/identity/presence.ts';
import { createRegistry, type Registry } from '../src/identity/registry.ts';

describe('device ids', () => {
  const accepted = (id: string) => {
    try {
      createRegistry(() => 0).create(id);
      return true;
    } catch {
      return false;
    }
  };
  test.each(['a', 'A'.repeat(128), "-.%_*?!(),:=@$'", '0'])('%j is allowed', (id) => expect(accepted(id)).toBe(true));
  test.each(['', 'A'.repeat(129), 'a/b', 'a b', 'a#', 'a+', 'é', 'a\n', '"', '\\'])('%j is not', (id) =>
    expect(accepted(id)).toBe(false),
  );
  test('are case-sensitive', () => {
    const registry = createRegistry(() => 0);
    registry.create('a');
    registry.create('A');
    expect(registry.list().map(({ deviceId }) => deviceId)).toEqual(['a', 'A']);
  });
  test('are unique', () => {
    const registry = createRegistry(() => 0);
    registry.create('a');
    const refusal = expect.objectContaining({ condition: 'com.microsoft:device-already-exists' });
    expect(() => registry.create('a')).toThrow(refusal);
  });
});

test('a device that is created again has another generation id', () => {
  const registry = createRegistry(() => 0);
  const first = registry.create('a').generationId;
  expect(registry.delete('a')).toBe(true);
  expect(registry.delete('a')).toBe(false);
  expect(registry.create('a').generationId).not.toBe(first);
});

test('an identity of an older hub, which knew keys only, proves by them who it is', () => {
  const { authentication: _, ...older } = createRegistry(() => 0).create('a');
  const registry = createRegistry(() => 0);
  registry.restore(older);
  expect(registry.get('a')).toEqual({ ...older, authentication: { type: 'sas' } });
});

test('an identity keeps its keys while it has a certificate', () => {
  const registry = createRegistry(() => 0);
  const { primaryKey } = registry.create('a');
  registry.update('a', { authentication: { type: 'certificateAuthority' } });
  registry.update('a', { status: 'disabled' });
  expect(registry.get('a')).toMatchObject({ primaryKey, authentication: { type: 'certificateAuthority' } });
});

test.each(['', 'not base64!', Buffer.alloc(15).toString('base64'), Buffer.alloc(65).toString('base64')])(
  'a device cannot have the key %j',
  (primaryKey) =>
    expect(() => createRegistry(() => 0).create('a', { primaryKey })).toThrow('base64 text of 16 to 64 bytes'),
);

test.each(['statusReason', 'managedBy'])('a device cannot have a %s of 129 characters', (name) => {
  const registry = createRegistry(() => 0);
  expect(registry.create('a', { [name]: 'x'.repeat(128) })).toMatchObject({ [name]: 'x'.repeat(128) });
  expect(() => registry.create('b', { [name]: 'x'.repeat(129) })).toThrow('128 characters at most');
  expect(() => registry.update('a', { [name]: 'x'.repeat(129) })).toThrow('128 characters at most');
});

test('the hash that chooses the partition never changes', () =>
  expect(['', 'a', 'foobar'].map(stableHash)).toEqual([0x811c9dc5, 0xe40c292c, 0xbf9cf968]));

describe('a device', () => {
  let now = 0;
  let registry: Registry;
  let presence: Presence;
  let ended: string[];
  beforeEach(() => {
    now = 1_000;
    ended = [];
    registry = createRegistry(() => now);
    presence = createPresence(registry, () => now);
    for (const id of ['d1', 'd2']) registry.create(id);
    registry.create('d1', { moduleId: 'm' });
  });

  const enter = (clientId: string, name = clientId) =>
    presence.enter(clientId, ({ condition }) => ended.push(`${name}: ${condition}`));

  test('is connected until it leaves, and each change has its time', () => {
    expect([presence.isConnected('d1'), presence.since('d1')]).toEqual([false, 0]);
    const leave = enter('d1');
    expect(['d1', 'd2'].map(presence.isConnected)).toEqual([true, false]);
    expect(presence.since('d1')).toBe(1_000);
    now = 2_000;
    leave();
    now = 3_000;
    leave();
    expect([presence.isConnected('d1'), presence.since('d1'), ended]).toEqual([false, 2_000, []]);
  });
  test('that connects again ends its earlier connection, and the end of that leaves it connected', () => {
    const leave = enter('d1', 'first');
    enter('d1', 'second');
    expect(ended).toEqual(['first: amqp:link:stolen']);
    leave();
    expect(presence.isConnected('d1')).toBe(true);
  });
  test.each([
    ['disabled', () => registry.update('d1', { status: 'disabled' })],
    ['deleted', () => registry.delete('d1')],
  ])('is disconnected when it is disabled or deleted, with its modules and no other device: %s', (_, change) => {
    for (const id of ['d1', 'd1/m', 'd2']) enter(id);
    registry.update('d1', { status: 'enabled', statusReason: 'in order' });
    expect(ended).toEqual([]);
    change();
    const condition = 'amqp:unauthorized-access';
    expect(ended.sort()).toEqual([`d1/m: ${condition}`, `d1: ${condition}`]);
    expect(['d1', 'd1/m', 'd2'].map(presence.isConnected)).toEqual([false, false, true]);
  });
});

let owners: Owners;
let stolen: string[];
beforeEach(() => {
  owners = createOwners();
  stolen = [];
});

const admit = (name: string, epoch?: number, place = 'g/0') =>
  owners.admit(place, { name, epoch, onStolen: ({ condition }) => stolen.push(`${name} ${condition}`) });

test('a receiver with an owner level disconnects all that share the partition', () => {
  admit('a');
  admit('b');
  admit('c', 0);
  expect(stolen).toEqual(['a amqp:link:stolen', 'b amqp:link:stolen']);
});
test('a replaced receiver that closes late does not disconnect its successor', () => {
  const leave = admit('a', 1);
  admit('b', 1);
  leave();
  expect(() => admit('c')).toThrow();
});
test('partitions are independent of each other', () => {
  admit('a', 1, 'g/0');
  admit('b', 0, 'g/1');
  admit('c', 0, 'h/0');
  expect(stolen).toEqual([]);
});

describe('a receiver starts', () => {
  test.each([
    [undefined, { by: 'offset', value: -1, inclusive: false }],
    ["amqp.annotation.x-opt-offset > '-1'", { by: 'offset', value: -1, inclusive: false }],
    ["amqp.annotation.x-opt-offset > '@latest'", { by: 'latest' }],
    ["amqp.annotation.x-opt-offset >= '1234'", { by: 'offset', value: 1234, inclusive: true }],
    ["amqp.annotation.x-opt-sequence-number > '7'", { by: 'sequenceNumber', value: 7, inclusive: false }],
    ["amqp.annotation.x-opt-sequence-number >= '7'", { by: 'sequenceNumber', value: 7, inclusive: true }],
    ["amqp.annotation.x-opt-enqueued-time > '1700000000000'", { by: 'enqueuedTime', value: 1.7e12, inclusive: false }],
    [' amqp.annotation.x-opt-sequence-number>=7 ', { by: 'sequenceNumber', value: 7, inclusive: true }],
  ])('at the position of %j', (selector, start) => expect(parseFilter(selector)).toEqual(start));
  test.each([
    'offset > 1',
    "amqp.annotation.x-opt-offset < '1'",
    "amqp.annotation.x-opt-offset > 'abc'",
    "amqp.annotation.x-opt-sequence-number > '@latest'",
    "amqp.annotation.x-opt-offset > '1' OR 1=1",
    '',
    7,
  ])('not with %j, which is refused', (selector) =>
    expect(() => parseFilter(selector)).toThrow(
      expect.objectContaining({
        condition: 'com.microsoft:argument-error',
        message: 'The filter of the receiver is none that Event Hubs knows.',
      }),
    ),
  );
});
