import { randomUUID } from 'node:crypto';
import { diagnoseMethods } from '../../observing/diagnosis.ts';
import type { Log, Troubles } from '../../observing/log.ts';
import type { DirectMethodResult, DirectMethods } from './directMethods.ts';

const probeIntervalMs = 5_000;
const probeTimeoutSeconds = 5;

const accessTrouble = 'hub access';
const reachTrouble = 'hub';

/**
 * Whether the hub accepts methods with the configured key (D47). Probes with a method of a device that does not exist: the hub reports that only to those who may invoke methods.
 * @param isByKey not by an identity
 */
export function createHubAccess(methods: DirectMethods, isByKey: boolean, log: Log, troubles: Troubles) {
  let isGranted = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  async function probe() {
    timer = undefined;
    const target = { device: randomUUID(), module: '' };
    const result = await methods.invoke({ ...target, payload: null, timeoutSeconds: probeTimeoutSeconds });
    if (!isClosed) recordOutcome(result);
    if (!isGranted) probeLater();
  }

  function probeLater() {
    if (isClosed) return;
    timer ??= setTimeout(() => void probe(), probeIntervalMs).unref();
  }

  function recordOutcome(result: DirectMethodResult) {
    const failed = result.kind === 'failure' ? result : undefined;
    const failure = failed?.failure;
    if (failure === 'stopped' || failure === 'stopped_unsent') return; // it says nothing about the hub
    const diagnosis = failed
      ? {
          ...{ status: failed.status, errorCode: failed.code, hubSaid: failed.cause },
          ...diagnoseMethods(failed, isByKey),
        }
      : {};
    if (failure === 'refused') {
      isGranted = false;
      const message = 'the hub refuses access: methods cannot be invoked';
      troubles.raise(accessTrouble, { level: 'error', message, diagnosis, still: () => ({}) });
      probeLater();
      return;
    }
    // A bad reply is the device's, which the hub has passed on.
    const hasResponded = failed?.status !== undefined || result.kind === 'response' || failure === 'bad_reply';
    if (!hasResponded || failure === 'unavailable' || failure === 'outcome_unknown') {
      troubles.raise(reachTrouble, { level: 'warn', message: 'the hub does not accept methods', diagnosis });
      return;
    }
    troubles.clear(reachTrouble, 'the hub accepts methods again');
    if (isGranted) return;
    isGranted = true;
    troubles.clear(accessTrouble, 'the hub grants access again');
    log.info({}, 'the hub grants access to methods');
  }

  return {
    /** Must be called with each result. */
    recordOutcome,
    isGranted: () => isGranted,
    /** Probes the hub until it grants access. */
    start: () => void probe(),
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
