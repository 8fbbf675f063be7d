import { setMaxListeners } from 'node:events';

/**
 * The states of a partition: reading → draining → released. In any state it is revoked when another instance claims it.
 */
export type State = 'reading' | 'draining' | 'released' | 'revoked';

export interface Lifecycle {
  state(): State;
  /** Aborted when the partition leaves `reading`: no more messages begin. */
  readonly draining: AbortSignal;
  /** Aborted when the partition is released or revoked: messages in flight make no calls and send no replies. */
  readonly ended: AbortSignal;
  drain(): void;
  release(): void;
  revoke(): void;
}

/** @param onDraining called once, when `draining` has been aborted */
export function createLifecycle(onDraining: () => void): Lifecycle {
  const [draining, ended] = [new AbortController(), new AbortController()];
  for (const { signal } of [draining, ended]) setMaxListeners(0, signal); // each message in flight adds one
  let state: State = 'reading';

  function drain() {
    if (state !== 'reading') return;
    state = 'draining';
    draining.abort();
    onDraining();
  }

  function end(final: 'released' | 'revoked') {
    drain();
    if (state !== 'revoked') state = final;
    ended.abort();
  }

  return {
    state: () => state,
    draining: draining.signal,
    ended: ended.signal,
    drain,
    release: () => end('released'),
    revoke: () => end('revoked'),
  };
}
