import { systemId } from './model/fields.ts';
import type { Sent } from './model/steps.ts';
import type { SeenCall } from './seen.ts';

const services: Readonly<Record<string, string>> = {
  objects: 'informationModel',
  object: 'informationModel',
  query: 'informationModel',
  modelDefinitions: 'typeRegistry',
  devices: 'principalManager',
};
const traceparent = /^00-([\da-f]{32})-[\da-f]{16}-0[01]$/;

/** §4: what every call of one message carries. */
export function checkHeaders({ properties }: Sent, deviceId: string, calls: readonly SeenCall[]): void {
  const id = properties['msgType'] === 'action' ? properties['correlationId'] : properties['id'];
  const traces = new Set<string | undefined>();
  for (const call of calls) {
    const { headers, method, segments, body } = call;
    const isMutation = method !== 'GET' && segments[0] !== 'query';
    traces.add(traceparent.exec(headers['traceparent'] ?? '')?.[1]);
    hold(call, 'backend', call.backend === services[segments[0] ?? '']);
    hold(call, 'x-svc-device-id', decodeURIComponent(headers['x-svc-device-id'] ?? '') === deviceId);
    hold(call, 'x-svc-operation', headers['x-svc-operation'] === undefined);
    hold(call, 'idempotency-key', (headers['idempotency-key'] !== undefined) === isMutation);
    hold(call, 'content-type', body === '' || /^application\/json\b/.test(headers['content-type'] ?? ''));
    const given = headers['x-correlation-id'] ?? '';
    const isShort = id !== undefined && systemId(String(id)) !== undefined && String(id).length <= 32;
    hold(call, 'x-correlation-id', given !== '' && (!isShort || decodeURIComponent(given) === String(id)));
  }
  const keys = calls.map(({ headers }) => headers['idempotency-key']).filter((key) => key !== undefined);
  if (new Set(keys).size !== keys.length) throw new Error('an idempotency key is used twice');
  if (traces.size > 1 || traces.has(undefined)) throw new Error('the calls of a message are not in one trace');
}

function hold({ method, path, headers }: SeenCall, what: string, holds: boolean): void {
  if (!holds) throw new Error(`${what} of ${method} ${path} is wrong: ${JSON.stringify(headers)}`);
}
