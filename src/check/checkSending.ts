import { type Finding, failure, ok, outage, warning } from 'telemetry/check/finding.ts';
import type { SendRefusal } from '../hub/replies/sendFailure.ts';
import { trySending } from '../hub/replies/sendTrial.ts';
import { diagnoseService } from '../hub/replies/serviceDiagnosis.ts';
import { accessOf } from '../identity/access.ts';
import { isSecret } from '../identity/secretFiles.ts';
import type { Settings } from '../settings/config.ts';
import { isLasting } from '../text/absence.ts';

const what = 'service endpoint';
const answerMs = 15_000;

/** The right to send to devices. */
export async function checkSending(settings: Settings): Promise<Finding[]> {
  const access = accessOf(settings).service();
  try {
    return [sendingFindingOf(await trySending(access, answerMs))];
  } catch (error) {
    return [sendingFailureOf(error, !isSecret(access))];
  }
}

/** @param refusal undefined when the hub has taken the message */
export function sendingFindingOf(refusal: SendRefusal | undefined): Finding {
  if (refusal === undefined) return ok(what, 'may send to devices: the hub has taken a message');
  if (refusal.reason === 'unknown_device')
    return ok(what, 'may send to devices: the hub has no such device as was asked for');
  const found = `the hub refuses messages for now: ${refusal.reason}`;
  return warning(
    what,
    found,
    'devices get no answers meanwhile: see how many replies the hub takes, docs/operations.md',
  );
}

/** @param isByIdentity instead of a connection string */
export function sendingFailureOf(error: unknown, isByIdentity: boolean): Finding {
  const { hubSaid, setting, todo } = diagnoseService(error, isByIdentity);
  const found = `${hubSaid} (${setting})`;
  return isRefusal(error) ? failure(what, found, todo) : outage(what, found, todo);
}

/** By the client's name for it, or the code, also of the error that it wraps. */
function isRefusal(error: unknown): boolean {
  const { amqpError } = error as { readonly amqpError?: unknown };
  return [error, amqpError].some((one) => {
    const { code } = (one ?? {}) as NodeJS.ErrnoException;
    return /Unauthorized|NotFound/.test(one?.constructor.name ?? '') || isLasting(String(code));
  });
}
