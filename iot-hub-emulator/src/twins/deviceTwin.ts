import type { Throttle } from '../limits/throttle.ts';
import { type JsonObject, parseJson, writeJson } from '../values/json.ts';
import { Refusal } from '../values/refusal.ts';
import type { Twins } from './twins.ts';

/** The answer to a device's twin request: a status as in HTTP, a JSON body or none, and the version after an update. */
export interface TwinAnswer {
  status: number;
  body: string;
  version?: number;
}

/** What a device can do with its own twin, whatever protocol it speaks. */
export interface DeviceTwin {
  /** Both sections of properties, without metadata. */
  get(): TwinAnswer;
  /** Change the reported properties by a patch, JSON as text. */
  report(patch: string): TwinAnswer;
}

const statuses: Readonly<Record<string, number>> = {
  'com.microsoft:argument-error': 400,
  'amqp:not-found': 404,
  'com.microsoft:device-container-throttled': 429,
};

/** The twin of this identity as its device sees it. */
export function deviceTwin(clientId: string, twins: Twins, throttle: Throttle): DeviceTwin {
  const attempt = (action: () => TwinAnswer): TwinAnswer => {
    try {
      return action();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const status = statuses[error.condition] ?? 500;
      return { status, body: JSON.stringify({ errorCode: status * 1000 + 1, message: error.message }) };
    }
  };

  return {
    get: () =>
      attempt(() => {
        throttle.take('twinRead');
        const { desired, reported } = twins.get(clientId);
        const body = { desired: withoutMetadata(desired), reported: withoutMetadata(reported) };
        return { status: 200, body: writeJson(body) };
      }),
    report: (patch) =>
      attempt(() => {
        throttle.take('twinUpdate');
        return { status: 204, body: '', version: twins.report(clientId, parseJson(patch)) };
      }),
  };
}

function withoutMetadata({ $metadata: _, ...rest }: JsonObject): JsonObject {
  return rest;
}
