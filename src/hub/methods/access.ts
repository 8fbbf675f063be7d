import { randomUUID } from 'node:crypto';
import type { Log } from '../../log.ts';
import type { Troubles } from '../../troubles.ts';
import type { DirectAnswer, DirectMethods } from './directMethods.ts';

/** Whether the hub lets us invoke methods at all. */
export interface HubAccess {
  /** Is told how each invocation ended. */
  observe(answer: DirectAnswer): void;
  /** The hub has agreed, and has not refused us since. */
  isAgreed(): boolean;
  /** Asks the hub, again and again until it agrees. */
  start(): void;
  close(): void;
}

/** Between two questions while the hub does not agree. */
const againMs = 5_000;
const askSeconds = 5;

const accessTrouble = 'hub access';
const reachTrouble = 'hub';

/** Asks by a method for a device that does not exist: the hub says so only to those who may invoke methods. */
export function createHubAccess(methods: DirectMethods, log: Log, troubles: Troubles): HubAccess {
  let isAgreed = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  async function ask() {
    timer = undefined;
    const answer = await methods.invoke({
      device: randomUUID(),
      module: '',
      payload: null,
      timeoutSeconds: askSeconds,
    });
    if (!isClosed) observe(answer);
    if (!isAgreed) askLater();
  }

  function askLater() {
    if (isClosed) return;
    timer ??= setTimeout(() => void ask(), againMs).unref();
  }

  function observe(answer: DirectAnswer) {
    const failure = answer.kind === 'failure' ? answer.failure : undefined;
    const fields = answer.kind === 'failure' ? { status: answer.status, errorCode: answer.code } : {};
    if (failure === 'refused') {
      isAgreed = false;
      const message = 'the hub refuses our access: methods cannot be invoked';
      troubles.met(accessTrouble, { level: 'error', message, fields, still: () => ({}) });
      askLater();
      return;
    }
    const isAnswer = answer.kind === 'answer' || answer.status !== undefined;
    if (!isAnswer || failure === 'unavailable' || failure === 'outcome_unknown') {
      troubles.met(reachTrouble, { level: 'warn', message: 'the hub does not take a method', fields });
      return;
    }
    troubles.over(reachTrouble, 'the hub takes methods again', {});
    if (isAgreed) return;
    isAgreed = true;
    troubles.over(accessTrouble, 'the hub accepts our access again', {});
    log.info('the hub lets methods be invoked');
  }

  return {
    observe,
    isAgreed: () => isAgreed,
    start: () => void ask(),
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
