import { randomUUID } from 'node:crypto';
import { diagnoseMethods } from '../../observing/diagnosis.ts';
import type { Log, Troubles } from '../../observing/log.ts';
import type { DirectMethodResult, DirectMethods } from './directMethods.ts';
import type { HubError } from './hubError.ts';

const probeIntervalMs = 5_000;
const timeoutSeconds = 5;
const accessTrouble = 'hub access';
const reachTrouble = 'hub';

/** Whether the hub accepts methods (D47): it says that a device does not exist only to those who may invoke them. @param isByKey no identity */
export function createHubAccess(methods: DirectMethods, isByKey: boolean, log: Log, troubles: Troubles) {
  let isGranted = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  async function probe() {
    timer = undefined;
    const result = await methods.invoke({ device: randomUUID(), module: '', payload: null, timeoutSeconds });
    if (!isClosed) recordOutcome(result);
    if (!isGranted) probeLater();
  }

  function probeLater() {
    if (isClosed) return;
    timer ??= setTimeout(() => void probe(), probeIntervalMs).unref();
  }

  function recordOutcome(result: DirectMethodResult) {
    if (result.kind === 'failure' && !isPassedOn(result)) return;
    troubles.clear(reachTrouble, 'the hub accepts methods again');
    if (isGranted) return;
    isGranted = true;
    troubles.clear(accessTrouble, 'the hub grants access again');
    log.info({}, 'the hub grants access to methods');
  }

  /** Whether the hub has taken a method that has failed; reports why not. */
  function isPassedOn(failed: HubError): boolean {
    const { failure, status, code: errorCode, cause: hubSaid } = failed;
    if (failure === 'stopped' || failure === 'stopped_unsent') return false; // it says nothing about the hub
    const diagnosis = { status, errorCode, hubSaid, ...diagnoseMethods(failed, isByKey) };
    if (failure === 'refused') {
      isGranted = false;
      const message = 'the hub refuses access: methods cannot be invoked';
      troubles.raise(accessTrouble, { level: 'error', message, diagnosis, still: () => ({}) });
      probeLater();
      return false;
    }
    // A bad reply is the device's, which the hub has passed on.
    const hasResponded = status !== undefined || failure === 'bad_reply';
    const isPassedOn = hasResponded && failure !== 'unavailable' && failure !== 'outcome_unknown';
    if (!isPassedOn)
      troubles.raise(reachTrouble, { level: 'warn', message: 'the hub does not accept methods', diagnosis });
    return isPassedOn;
  }

  return {
    recordOutcome,
    isGranted: () => isGranted,
    start: () => void probe(),
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
