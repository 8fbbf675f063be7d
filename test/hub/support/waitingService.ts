import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import type { AxiosAdapter } from 'axios';
import { expect, vi } from 'vitest';
import type { BackendName } from '../../../src/backends/backends.ts';
import { createDeadline } from '../../../src/backends/deadline.ts';
import { TransportFailure } from '../../../src/backends/transport.ts';
import { createDependencies } from '../../../src/dispatch/recognition.ts';
import { type Budget, createBudget } from '../../../src/engine/budget.ts';
import { createPartition } from '../../../src/engine/partition.ts';
import type { Backlog } from '../../../src/engine/rooms.ts';
import { messageLimits } from '../../../src/settings/constants.ts';
import { usual } from '../../engine/support/partitions.ts';
import { settings } from '../../support/environment.ts';
import { hubEvent } from '../../support/events.ts';
import { courseOf } from '../../support/observed.ts';
import { receivedMessageOf, wire } from '../../support/wiring.ts';
import { v2 } from './messages.ts';

type Given = { readonly maxMessages?: number; readonly backlog?: Backlog; readonly overall?: Budget };

const objectId = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
const never = new Promise<never>(() => {});

/**
 * The service between a hub and backends that the test lets hang or takes away; all but the hub client and the network is
 * real. Calls of devices whose names begin with `hung` are never answered, nor are replies to those that begin with `deaf`.
 */
export function waitingService({ maxMessages = 500, backlog = usual.backlog, overall }: Given = {}) {
  const out = new Set<BackendName>();
  const handled: string[] = [];
  const deaf: (() => void)[] = [];

  const adapter: AxiosAdapter = async (config) => {
    const url = config.url ?? '';
    const name: BackendName = url.startsWith('/devices') ? 'principalManager' : 'informationModel';
    if (out.has(name)) throw new TransportFailure('connection refused', false);
    if (String(config.headers['x-svc-device-id']).startsWith('hung')) await never;
    const answer = url.startsWith('/devices?') ? { data: [{ id: 'p', identity: '', path: '' }] } : { version: 2 };
    return { status: 200, statusText: '', headers: {}, data: Buffer.from(JSON.stringify(answer)), config };
  };
  const { backends, dispatch } = wire({
    settings: { ...settings.backends, circuitFailures: 1 },
    adapter,
    async send({ deviceId }) {
      if (deviceId.startsWith('deaf')) await new Promise<void>((resolve) => deaf.push(resolve));
      return 'delivered';
    },
    deadLetters: { park: async () => {}, remove: async () => {} },
  });
  const budget = createBudget({ maxMessages, maxBytes: 32 * 1024 * 1024 }, overall);
  const partition = createPartition({
    ...usual,
    budget,
    backlog,
    receivedMessageOf: (event) => receivedMessageOf(event),
    dependenciesOf: createDependencies(backends, messageLimits),
    async dispatch(receivedMessage, context) {
      expect(budget.inFlight().messages).toBeLessThanOrEqual(maxMessages);
      const isHandled = await dispatch(receivedMessage, context);
      if (isHandled) handled.push(`${receivedMessage.deviceId} ${receivedMessage.event.sequenceNumber}`);
      return isHandled;
    },
    limits: { everyMessages: 1e9, everyMs: 1e9 },
  });

  let sequenceNumber = 0;
  const message = (device: string, action: string, body: unknown, more: Record<string, string> = {}) => {
    sequenceNumber += 1;
    return hubEvent({ ...v2(action, body, more, device), sequenceNumber });
  };

  return {
    partition,
    budget,
    handled,
    backlog,
    /** Needs the principal manager alone. */
    identityUpdate: (device: string) => message(device, 'identity.update', { publicKey: 'key' }),
    /** Needs the information model alone. */
    modelUpdate: (device: string) =>
      message(device, 'model.update', { model: 'svc.device', type: 'pump', version: 1 }, { objectId }),

    /** The backend goes, and the service has yet to find out. */
    vanish(name: BackendName) {
      out.add(name);
    },
    /** The backend goes, and the service has found out. */
    async takeAway(name: 'informationModel' | 'principalManager') {
      out.add(name);
      const deviceId = 'finder';
      const deadline = createDeadline(0.05);
      const call = { deviceId, correlationId: '', observation: courseOf(), idempotencySeed: objectId, deadline };
      const bound = backends.bind(call);
      void (
        name === 'informationModel'
          ? bound.informationModel.getModel(objectId, 'm')
          : bound.principalManager.resolve('')
      ).catch(() => undefined);
      await passUntil(() => !backends.isUp(name));
    },
    /** The backend is back; the service finds out by its probe. */
    async bringBack(name: 'informationModel' | 'principalManager') {
      out.delete(name);
      await passUntil(() => backends.isUp(name));
    },
    /** The hub takes the replies that have waited so far, or so many of them. */
    hear(count = deaf.length) {
      for (const resolve of deaf.splice(0, count)) resolve();
    },
    admitAll(events: Parameters<typeof partition.admit>[0]) {
      let isAdmitted = false;
      void partition.admit(events).then(() => (isAdmitted = true));
      return () => isAdmitted;
    },
    async close() {
      partition.revoke();
      await backends.close();
    },
  };
}

/** Time of the test passes until it is so. */
export async function passUntil(isSo: () => boolean): Promise<void> {
  for (let rounds = 0; rounds < 20_000 && !isSo(); rounds += 1) {
    await vi.advanceTimersByTimeAsync(10);
    await turnOfTheLoop();
  }
  expect(isSo()).toBe(true);
}

/** All that can happen now has happened. */
export async function settle(): Promise<void> {
  for (let rounds = 0; rounds < 50; rounds += 1) {
    await vi.advanceTimersByTimeAsync(0);
    await turnOfTheLoop();
  }
}
