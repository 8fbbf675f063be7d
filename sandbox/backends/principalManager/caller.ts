import { forbidden, invalid } from '../http/problem.ts';
import type { Principal, Principals } from './principals.ts';

/** The directly connected device on whose behalf a call is made: tenant and rights follow from it. */
export interface Caller {
  readonly deviceId: string;
  readonly tenant: string;
  readonly root: Principal;
}

/** The caller of a decoded `x-svc-device-id`: absent → 400, unknown → 403. */
export function callerOf(principals: Principals, deviceId: string | undefined): Caller {
  if (deviceId === undefined || deviceId === '') throw invalid('the header x-svc-device-id is missing');
  const root = principals.device(deviceId);
  if (!root) throw forbidden('the device has no identity');
  return { deviceId, tenant: root.tenant, root };
}
