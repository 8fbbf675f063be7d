import { type Access, accessOf } from '../access/access.ts';
import { currentOf, isSecret, renewed, whenChanged } from '../access/secretFiles.ts';
import { createBackends } from '../backends/backends.ts';
import { createDispatch } from '../dispatch/dispatch.ts';
import { createDependencies } from '../dispatch/recognition.ts';
import { createReplies } from '../hub/replies/replies.ts';
import { cureHubSdks } from '../hub/sdkCures.ts';
import { newServiceClient } from '../hub/serviceSdk.ts';
import { createStoreRecords, type StoreRecords } from '../observing/callRecords.ts';
import { createTroubles, type Log, withFields } from '../observing/log.ts';
import { type Meter, noMeter } from '../observing/metrics.ts';
import type { Traces } from '../observing/observation.ts';
import { storeFieldsOf } from '../observing/storeFailure.ts';
import type { Taps } from '../observing/taps.ts';
import type { Settings } from '../settings/config.ts';
import { messageLimits, timing } from '../settings/constants.ts';
import { secretsOf } from '../settings/secrets.ts';
import type { DeadLetters } from '../stores/deadLetterStore.ts';
import { openDeadLetters } from '../stores/open.ts';

/** Dead letters expire also when none is parked. */
const tidyEveryMs = 60 * 60_000;

/** Access and store are those of the settings when omitted. */
export interface HandlingOptions {
  readonly access?: Access;
  readonly deadLetters?: DeadLetters;
  /** For the log while something is wrong: how much waits. */
  readonly amounts?: () => object;
  readonly meter?: Meter;
  readonly stores?: StoreRecords;
  /** Closed with the rest. */
  readonly traces?: Traces | undefined;
  readonly taps?: Taps;
  /** Called before each step with an effect outside the process; it may end the handling of messages. */
  readonly beforeEffect?: () => void;
}

/** All parts that handle a message from the hub or from the dead letters. */
export function createHandling(settings: Settings, log: Log, options: HandlingOptions = {}) {
  const {
    meter = noMeter,
    stores = createStoreRecords(meter),
    access = accessOf(settings),
    deadLetters = openDeadLetters(settings, log, stores, access),
  } = options;
  const { amounts, traces, taps, beforeEffect } = options;
  cureHubSdks();
  const backends = createBackends(settings.backends, withFields(log, { part: 'backends' }), {
    ...{ secrets: () => secretsOf(settings), amounts, meter, access },
  });
  const troubles = createTroubles(log, amounts);
  const endpoint = access.service();
  const replies = createReplies({
    ...{ ...settings.replies, maxWaitSeconds: timing.replySeconds, log, troubles, meter },
    newClient: () => newServiceClient(endpoint),
    isByIdentity: !isSecret(endpoint),
    refused: () => isSecret(endpoint) && void renewed(endpoint, currentOf(endpoint)),
  });
  whenChanged(endpoint, replies.connection.renew);
  const tidying = setInterval(() => {
    deadLetters
      .tidy()
      .catch((error) => log.warn({ err: error, ...storeFieldsOf(error) }, 'dead letters cannot be tidied up'));
  }, tidyEveryMs).unref();
  const dispatch = createDispatch({
    ...{ backends, sender: replies.sender, meter, deadLetters, log, troubles, traces, taps, beforeEffect },
    limits: messageLimits,
    now: () => new Date(),
  });
  return {
    dispatch,
    dependenciesOf: createDependencies(backends, messageLimits),
    ...{ backends, replies, deadLetters },
    async close() {
      clearInterval(tidying);
      const closing = replies.close();
      troubles.close();
      await Promise.all([closing, backends.close(), traces?.close()]);
    },
  };
}
