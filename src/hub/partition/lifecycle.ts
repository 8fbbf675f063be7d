import { setMaxListeners } from 'node:events';

/**
 * The life of a partition: reading → draining → released. It is revoked when another instance takes it, or when it has
 * lost messages that it kept; that can happen in any state.
 */
export type State = 'reading' | 'draining' | 'released' | 'revoked';

export interface Lifecycle {
  state(): State;
  /** Aborted when the partition leaves `reading`: nothing more is begun. */
  readonly draining: AbortSignal;
  /** Aborted when the partition is released or revoked: no further call is made and no further reply is sent. */
  readonly ended: AbortSignal;
  drain(): void;
  release(): void;
  revoke(): void;
}

/** @param onDraining called once, before anything else learns that the partition drains */
export function createLifecycle(onDraining: () => void): Lifecycle {
  const [draining, ended] = [new AbortController(), new AbortController()];
  for (const { signal } of [draining, ended]) setMaxListeners(0, signal); // each message in work listens
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
