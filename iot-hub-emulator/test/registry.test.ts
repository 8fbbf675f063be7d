import { describe, expect, test } from 'vitest';
import { stableHash } from '../src/events/events.ts';
import { createRegistry } from '../src/identity/registry.ts';

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
