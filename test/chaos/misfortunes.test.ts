import { expect, it } from 'vitest';
import { failover } from './misfortunes.ts';
import { createRandom } from './random.ts';
import type { Stage } from './stage.ts';

it('A failover that meets no connection is one, and the hub is at its other endpoint until the next', async () => {
  let [at, silenced] = [0, ''];
  const names = ['here', 'there'];
  const name = () => names[at % 2] ?? '';
  const instance = {
    isUp: () => true,
    lines: async () => [
      { msg: 'reading partition', partition: '0', time: new Date(0).toISOString() },
      { event: 'hub.endpoint_found', endpoint: `hub.example/${name()}` },
    ],
  };
  const stage = {
    ...{ instances: [instance], guest: instance, places: new Map(), cuts: [], over: new AbortController().signal },
    hub: { endpoint: () => ({ name: name() }) },
    backends: { calls: () => [] },
    oneFailover: (work: () => Promise<unknown>) => work(),
    checkpointsOf: async () => new Map(),
    async failOver() {
      if (at === 1 && silenced === '') throw new Error('struck again');
      at += 1;
      return 0;
    },
    async silenceDevices() {
      silenced = name();
      return () => {};
    },
  } as unknown as Stage;
  const random = { ...createRandom(1), between: () => 0 };
  await failover.happen(stage, random, undefined as never);
  expect([at, silenced]).toEqual([2, 'there']);
});
