import { beforeEach, describe, expect, test } from 'vitest';
import { createRegistry } from '../src/identity/registry.ts';
import { createJournal } from '../src/journal/journal.ts';
import { createMethods, type MethodRequest, type Methods } from '../src/methods/methods.ts';

const call = { methodName: 'start', payload: null, responseTimeoutMs: 60_000, connectTimeoutMs: 0 };
const gone = { condition: 'com.microsoft:device-not-online' };

let methods: Methods;
beforeEach(() => {
  const registry = createRegistry(Date.now);
  for (const id of ['pump-1', 'pump-2']) registry.create(id);
  registry.create('pump-1', { moduleId: 'm' });
  methods = createMethods(registry, createJournal());
});

/** Listens, and calls: what was asked of the one that listens. */
function listen(clientId: string) {
  const asked: MethodRequest[] = [];
  return { asked, leave: methods.listen(clientId, (request) => asked.push(request)) };
}

describe('a call to a device', () => {
  test.each([
    ['another device', 'pump-2'],
    ['a module of it', 'pump-1/m'],
  ])('goes on when %s leaves, and ends when the device itself leaves', async (_, other) => {
    const own = listen('pump-1');
    const others = listen(other);
    const [first, second, ofOther] = ['pump-1', 'pump-1', other].map((id) => methods.invoke(id, call));
    methods.answer(other, own.asked[0]?.requestId ?? '', 500, '"of another"'); // counts for nothing
    others.leave();
    await expect(ofOther).rejects.toMatchObject(gone);
    methods.answer('pump-1', own.asked[0]?.requestId ?? '', 200, '"done"');
    expect(await first).toEqual({ status: 200, payload: '"done"' });
    own.leave();
    await expect(second).rejects.toMatchObject(gone);
  });
  test('ends when the device listens on a new connection and the earlier one ends, which ends no later call', async () => {
    const earlier = listen('pump-1');
    const before = methods.invoke('pump-1', call);
    const later = listen('pump-1');
    const after = methods.invoke('pump-1', call);
    earlier.leave();
    await expect(before).rejects.toMatchObject(gone);
    methods.answer('pump-1', later.asked[0]?.requestId ?? '', 200, '');
    expect(await after).toEqual({ status: 200, payload: 'null' });
    const next = methods.invoke('pump-1', call);
    methods.answer('pump-1', later.asked[1]?.requestId ?? '', 201, '');
    expect(await next).toEqual({ status: 201, payload: 'null' });
  });
});
