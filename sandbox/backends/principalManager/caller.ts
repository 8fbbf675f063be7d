import { forbidden, invalid } from '../requests/problem.ts';
import type { Caller } from '../routes/route.ts';
import type { Principals } from './principals.ts';

/** The caller of a decoded `x-svc-device-id`: absent → 400, unknown → 403. */
export function callerOf(principals: Principals, deviceId: string | undefined): Caller {
  if (deviceId === undefined || deviceId === '') throw invalid('the header x-svc-device-id is missing');
  const root = principals.device(deviceId);
  if (!root) throw forbidden('the device has no identity');
  return { deviceId, tenant: root.tenant, identity: { id: root.id, path: root.path } };
}
