import { facts, probeAll } from 'iot-hub-emulator/facts';
import { beforeAll, expect, it } from 'vitest';
import { storageAccount } from '../support/storageAccount.ts';

// What is believed of the storage, asked of the stand-in that the tests use.

const ids = facts.map(({ id }) => id).filter((id) => id.startsWith('storage.'));
const noHub = 'HostName=localhost;SharedAccessKeyName=none;SharedAccessKey=bm9uZQ==';
const outcomes = new Map<string, string>();

beforeAll(async () => {
  const { connectionString: storage } = await storageAccount();
  const target = { hub: noHub, events: '', consumerGroup: '', storage };
  const permissions = { has: new Set(['storage' as const]), mayDisturb: new Set<never>() };
  for (const { id, result, why } of await probeAll(target, { permissions, only: ids })) outcomes.set(id, why ?? result);
});

it.each(ids)('%s', (id) => expect(outcomes.get(id)).toBe('held'));
