import { beforeEach, describe, expect, test } from 'vitest';
import { createPresence, type Presence } from '../src/identity/presence.ts';
import { createRegistry, type Registry } from '../src/identity/registry.ts';

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

describe('a device', () => {
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
