import { expect, it, onTestFinished, vi } from 'vitest';
import { createBackends } from '../../src/backends/backends.ts';
import { createDeadline } from '../../src/backends/deadline.ts';
import { TransportFailure } from '../../src/backends/transport.ts';
import { silence } from '../hub/support/replying.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { callOf, settings } from './harness.ts';

withFakeTimers();

const principal = { data: [{ id: 'p', identity: 'i', path: 'd1' }] };

it('operators see the state of each backend separately', async () => {
  const backends = createBackends({ ...settings, connections: 5, circuitFailures: 1 }, silence, {
    async adapter(config) {
      const path = config.url ?? '';
      if (path.startsWith('/modelDefinitions/refused')) throw new TransportFailure('connection refused', false);
      if (!path.includes('known')) return new Promise(() => {});
      const answer = path.startsWith('/devices') ? principal : { typeId: 't', version: '1.0.0' };
      return { status: 200, statusText: '', headers: {}, data: Buffer.from(JSON.stringify(answer)), config };
    },
  });
  onTestFinished(() => backends.close());
  const { informationModel, typeRegistry, principalManager } = backends.bind(callOf({ deadline: createDeadline(900) }));
  const ask = (count: number, work: (name: string) => Promise<unknown>) => {
    for (let index = 0; index < count; index += 1) void work(String(index)).catch(() => undefined);
    return vi.advanceTimersByTimeAsync(0);
  };
  await ask(7, (name) => informationModel.getModel(name, 'm'));
  await ask(4, (name) => typeRegistry.getType('m', `known-${name}`, '1.0.0'));
  await ask(6, (name) => principalManager.resolve(`known-${name}`));
  await ask(8, (name) => principalManager.updateIdentity(name, '{}'));
  await ask(3, (name) => typeRegistry.createType(name, '{}'));
  const since = performance.now();
  await ask(1, () => typeRegistry.getType('refused', 't', '1.0.0'));
  expect(backends.states()).toEqual({
    informationModel: {
      circuit: 'closed',
      outage: undefined,
      connections: { inUse: 5, waiting: 2 },
      oldestMs: 0,
      cacheEntries: undefined,
    },
    typeRegistry: {
      circuit: 'open',
      outage: { since, failure: 'connection refused' },
      connections: { inUse: 3, waiting: 0 },
      oldestMs: 0,
      cacheEntries: 5,
    },
    principalManager: {
      circuit: 'closed',
      outage: undefined,
      connections: { inUse: 5, waiting: 3 },
      oldestMs: 0,
      cacheEntries: 6,
    },
  });
  expect(backends.waiting()).toBe(5);
  await backends.close();
});
