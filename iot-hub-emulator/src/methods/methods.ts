import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { nameOf, type Registry } from '../identity/registry.ts';
import type { Journal } from '../journal/journal.ts';
import { isObject, type Json, parseJson, writeJson } from '../values/json.ts';
import { Refusal } from '../values/refusal.ts';
import { createConnectWaiters } from './connectWaiters.ts';

/** A direct method as a service asks for it. */
export interface MethodCall {
  methodName: string;
  payload: Json;
  /** How long the device has to answer, in milliseconds. */
  responseTimeoutMs: number;
  /** How long to wait for a device that is not connected, in milliseconds. */
  connectTimeoutMs: number;
}

/** What the device answered. */
export interface MethodAnswer {
  status: number;
  /** JSON, as the device wrote it; `null` when it said nothing. */
  payload: string;
}

/** A method call as a device gets it. */
export interface MethodRequest {
  requestId: string;
  methodName: string;
  /** JSON. */
  payload: string;
}

/** Direct methods: from a service to a connected device and back. */
export interface Methods {
  /**
   * Call a device or module. Refuses with `amqp:not-found` when there is none or it is disabled,
   * `com.microsoft:device-not-online` when it does not listen or goes away during the call,
   * `com.microsoft:too-many-calls` when as many calls as it may have at once are under way, and `com.microsoft:timeout`
   * when it does not answer in time.
   */
  invoke(clientId: string, call: MethodCall): Promise<MethodAnswer>;
  /** The device listens to method calls until the answer is called. One listener each: a second one replaces the first. */
  listen(clientId: string, listener: (request: MethodRequest) => void): () => void;
  /**
   * The device answers with a status and a body, which ought to be JSON of at most 128 KB: the caller is refused with
   * `com.microsoft:bad-device-response` if it is not. No effect when the call has ended, or is another device's.
   */
  answer(clientId: string, requestId: string, status: number, body: Buffer | string | undefined): void;
}

/** Of a call as of its answer, in bytes. */
export const maxPayload = 128 * 1024;

type Listener = (request: MethodRequest) => void;

interface PendingCall {
  clientId: string;
  /** The listener that was asked. */
  listener: Listener;
  answered: (status: number, body: Buffer | undefined) => void;
  /** The device is gone. */
  left: () => void;
}

/** Method calls of one hub. A device or module has at most `mostAtOnce` under way. */
export function createMethods(registry: Registry, journal: Journal, mostAtOnce = Number.POSITIVE_INFINITY): Methods {
  const concurrentCalls = new Map<string, number>();
  const listeners = new Map<string, Listener>();
  const waiters = createConnectWaiters();
  const pending = new Map<string, PendingCall>();

  const callDevice = (
    clientId: string,
    { methodName, payload, responseTimeoutMs }: MethodCall,
  ): Promise<MethodAnswer> =>
    new Promise((resolve, reject) => {
      const listener = listeners.get(clientId);
      if (!listener) return reject(notOnline());
      const requestId = randomUUID();
      const timer = setTimeout(() => {
        pending.delete(requestId);
        reject(new Refusal('com.microsoft:timeout', 'Timed out waiting for the response from device.'));
      }, responseTimeoutMs).unref();
      pending.set(requestId, {
        clientId,
        listener,
        answered(status, body) {
          clearTimeout(timer);
          pending.delete(requestId);
          if (body && Number.isInteger(status) && isPayload(body))
            resolve({ status, payload: body.toString('utf8') || 'null' });
          else reject(new Refusal('com.microsoft:bad-device-response', 'The device answered something that is none.'));
        },
        left() {
          clearTimeout(timer);
          pending.delete(requestId);
          reject(new Refusal('com.microsoft:device-not-online', 'Device unavailable.'));
        },
      });
      listener({ requestId, methodName, payload: writeJson(payload) });
    });

  /** Count one more call of this device. Call the answer when it has ended. */
  const begin = (clientId: string): (() => void) => {
    const before = concurrentCalls.get(clientId) ?? 0;
    if (before >= mostAtOnce) {
      throw new Refusal('com.microsoft:too-many-calls', `The device has ${mostAtOnce} method calls under way.`);
    }
    concurrentCalls.set(clientId, before + 1);
    return () => {
      const left = (concurrentCalls.get(clientId) ?? 1) - 1;
      if (left === 0) concurrentCalls.delete(clientId);
      else concurrentCalls.set(clientId, left);
    };
  };

  return {
    async invoke(clientId, call) {
      const identity = registry.get(clientId);
      if (!identity || [identity, registry.get(identity.deviceId)].some((it) => it?.status !== 'enabled')) {
        throw new Refusal('amqp:not-found', 'There is no device of this id that is enabled.');
      }
      const { methodName, payload } = call;
      const given = isObject(payload) ? payload['correlationId'] : undefined;
      const correlationId = typeof given === 'string' ? given : undefined;
      const about = { ...nameOf(identity), correlationId };
      const timeouts = {
        responseTimeoutInSeconds: call.responseTimeoutMs / 1000,
        connectTimeoutInSeconds: call.connectTimeoutMs / 1000,
      };
      const entry = { kind: 'method', ...about, methodName, payload: writeJson(payload), ...timeouts } as const;
      let end: (() => void) | undefined;
      try {
        end = begin(clientId);
        if (!listeners.has(clientId)) {
          const ms = call.connectTimeoutMs;
          if (ms <= 0 || !(await waiters.wait(clientId, ms))) throw notOnline();
        }
        const answer = await callDevice(clientId, call);
        journal.add({ ...entry, status: answer.status });
        return answer;
      } catch (error) {
        if (error instanceof Refusal) journal.add({ ...entry, refused: error.condition });
        throw error;
      } finally {
        end?.();
      }
    },

    listen(clientId, listener) {
      listeners.set(clientId, listener);
      waiters.connected(clientId);
      return () => {
        if (listeners.get(clientId) === listener) listeners.delete(clientId);
        for (const call of [...pending.values()]) if (call.listener === listener) call.left();
      };
    },

    answer(clientId, requestId, status, body) {
      const call = pending.get(requestId);
      if (call?.clientId === clientId) call.answered(status, typeof body === 'string' ? Buffer.from(body) : body);
    },
  };
}

const notOnline = () => new Refusal('com.microsoft:device-not-online', 'Timed out waiting for device to connect.');

/** Nothing, or JSON. */
function isPayload(body: Buffer): boolean {
  try {
    if (body.length > 0) parseJson(body.toString('utf8'));
    return body.length <= maxPayload && isUtf8(body);
  } catch {
    return false;
  }
}
