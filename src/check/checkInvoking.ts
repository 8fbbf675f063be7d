import { randomUUID } from 'node:crypto';
import { type Finding, failure, ok, outage } from 'telemetry/check/finding.ts';
import { createDirectMethods, type DirectMethodResult } from '../hub/methods/directMethods.ts';
import { diagnoseMethods } from '../hub/methods/methodsDiagnosis.ts';
import { accessOf } from '../identity/access.ts';
import { isSecret } from '../identity/secretFiles.ts';
import type { MethodsSettings } from '../settings/config.ts';
import { isLasting } from '../text/absence.ts';

const what = 'service endpoint';

/** The right to invoke methods of devices, with one of a device that does not exist. */
export async function checkInvoking(settings: MethodsSettings): Promise<Finding[]> {
  const access = accessOf(settings).service();
  const methods = createDirectMethods(access);
  try {
    const result = await methods.invoke({
      device: `check-${randomUUID()}`,
      module: '',
      payload: null,
      timeoutSeconds: 5,
    });
    return [invokingFindingOf(result, isSecret(access))];
  } finally {
    methods.close();
  }
}

/** @param isByKey not by an identity */
export function invokingFindingOf(result: DirectMethodResult, isByKey: boolean): Finding {
  if (result.kind === 'response') return ok(what, 'may invoke methods');
  const { failure: reason, status, code, cause, said: words } = result;
  if (reason === 'device_unknown' || reason === 'device_offline')
    return ok(what, 'may invoke methods: the hub has no such device as was asked for');
  const said = words ?? ([status, code].filter((one) => one !== undefined).join(' ') || 'no answer');
  const { setting, todo } = diagnoseMethods(result, isByKey);
  if (reason === 'refused') return failure(what, `the hub refuses access: ${said} (${setting})`, todo);
  return (isLasting(cause ?? '') ? failure : outage)(what, `${said} (${setting})`, todo);
}
