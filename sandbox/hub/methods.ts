import { randomUUID } from 'node:crypto';
import type { Journal } from './journal.ts';
import { type Json, parseJson } from './json.ts';
import { Refusal } from './refusal.ts';
import { nameOf, type Registry } from './registry.ts';

/** A direct method as a service asks for it. */
export interface MethodCall {
  methodName: string;
  payload: Json;
  /** How long the device has to answer, in milliseconds. */
  responseTimeoutMs: number;
  /** How long to wait for a device that is not connected, in milliseconds. */
  connectTimeoutMs: number;
}

/** What the device answered; the payload is null when it said nothing. */
export interface MethodAnswer {
  status: number;
  payload: Json;
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
   * Call a device or module. Refuses with `amqp:not-found` when there is none, `com.microsoft:device-not-online` when it
   * does not listen, `com.microsoft:timeout` when it does not answer in time.
   */
  invoke(clientId: string, call: MethodCall): Promise<MethodAnswer>;
  /** The device listens to method calls until the answer is called. One listener each: a second one replaces the first. */
  listen(clientId: string, listener: (request: MethodRequest) => void): () => void;
  /**
   * The device answers with a status and a text, which ought to be JSON: whoever waits is refused with
   * `com.microsoft:bad-device-response` if it is not. Nothing comes of it when nobody waits, or for another's call.
   */
  answer(clientId: string, requestId: string, status: number, text: string): void;
}

interface Waiting {
  clientId: string;
  answered: (status: number, text: string) => void;
}

/** Method calls of one hub. */
export function createMethods(registry: Registry, journal: Journal): Methods {
  const listeners = new Map<string, (request: MethodRequest) => void>();
  const arrivals = new Map<string, Set<() => void>>();
  const waiting = new Map<string, Waiting>();

  const arrival = (clientId: string, waitMs: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const expected = arrivals.get(clientId) ?? new Set();
      const done = (): void => {
        clearTimeout(timer);
        expected.delete(done);
        if (expected.size === 0) arrivals.delete(clientId);
        resolve();
      };
      const timer = setTimeout(() => {
        expected.delete(done);
        reject(new Refusal('com.microsoft:device-not-online', 'The device did not connect in time.'));
      }, waitMs).unref();
      arrivals.set(clientId, expected.add(done));
    });

  const ask = (clientId: string, { methodName, payload, responseTimeoutMs }: MethodCall): Promise<MethodAnswer> =>
    new Promise((resolve, reject) => {
      const requestId = randomUUID();
      const timer = setTimeout(() => {
        waiting.delete(requestId);
        reject(new Refusal('com.microsoft:timeout', 'The device did not answer in time.'));
      }, responseTimeoutMs).unref();
      waiting.set(requestId, {
        clientId,
        answered(status, text) {
          clearTimeout(timer);
          waiting.delete(requestId);
          const payload = read(text);
          if (Number.isInteger(status) && payload !== undefined) resolve({ status, payload });
          else reject(new Refusal('com.microsoft:bad-device-response', 'The device answered something that is none.'));
        },
      });
      listeners.get(clientId)?.({ requestId, methodName, payload: JSON.stringify(payload) });
    });

  return {
    async invoke(clientId, call) {
      const identity = registry.get(clientId);
      if (!identity) throw new Refusal('amqp:not-found', 'There is no device of this id.');
      const entry = { ...nameOf(identity), methodName: call.methodName };
      try {
        if (!listeners.has(clientId)) {
          if (call.connectTimeoutMs <= 0)
            throw new Refusal('com.microsoft:device-not-online', 'The device is not connected, or hears no methods.');
          await arrival(clientId, call.connectTimeoutMs);
        }
        const answer = await ask(clientId, call);
        journal.add({ kind: 'method', ...entry, status: answer.status });
        return answer;
      } catch (error) {
        if (error instanceof Refusal) journal.add({ kind: 'method', ...entry, refused: error.condition });
        throw error;
      }
    },

    listen(clientId, listener) {
      listeners.set(clientId, listener);
      for (const arrived of [...(arrivals.get(clientId) ?? [])]) arrived();
      return () => {
        if (listeners.get(clientId) === listener) listeners.delete(clientId);
      };
    },

    answer(clientId, requestId, status, text) {
      const call = waiting.get(requestId);
      if (call?.clientId === clientId) call.answered(status, text);
    },
  };
}

function read(text: string): Json | undefined {
  try {
    return text === '' ? null : parseJson(text);
  } catch {
    return undefined;
  }
}
