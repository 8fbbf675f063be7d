import type { PartitionSession } from './session.ts';

/** A session that has ended has none. */
export type SessionState = 'opening' | 'reading' | 'draining' | 'revoked';

/** Why a session was ended without a release. */
export type Revocation = 'lost' | 'stood_still' | 'refused';

/** One session from its beginning to its end: it reads, and drains when it is to be released; revoked from either state. */
export interface SessionLife {
  readonly session: PartitionSession;
  state(): Exclude<SessionState, 'opening'>;
  /** Does nothing when the session is revoked already. */
  revoke(reason: Revocation): void;
  /** Drains and releases; of a session that has been revoked, waits for the end. Never rejects. */
  release(): Promise<void>;
}

interface SessionLifeOptions {
  readonly drainMs: number;
  /** Releases the ownership. */
  readonly releaseOwnership: (begun: number | undefined) => Promise<void>;
  /** Called once. */
  ended(reason: Revocation | 'released' | 'not_released'): void;
  released(unfinished: number): void;
  notReleased(error: unknown): void;
  /** Nothing of the session runs any more. */
  gone(): void;
}

export function createSessionLife(session: PartitionSession, options: SessionLifeOptions): SessionLife {
  const { drainMs, releaseOwnership, ended, released, notReleased, gone } = options;
  let state: Exclude<SessionState, 'opening'> = 'reading';
  let end: Promise<void> = Promise.resolve();

  /** The end of a revoked session has been reported already. */
  function endedUnlessRevoked(reason: 'released' | 'not_released') {
    if (state !== 'revoked') ended(reason);
  }

  async function drainAndRelease() {
    try {
      const { unfinished, begun } = await session.drain(drainMs);
      await releaseOwnership(begun);
      endedUnlessRevoked('released');
      released(unfinished);
    } catch (error) {
      endedUnlessRevoked('not_released');
      notReleased(error);
    } finally {
      gone();
    }
  }

  return {
    session,
    state: () => state,
    revoke(reason) {
      if (state === 'revoked') return;
      ended(reason);
      if (state === 'draining') session.revoke();
      else end = session.close(drainMs).finally(gone);
      state = 'revoked';
    },
    release() {
      if (state === 'reading') {
        state = 'draining';
        end = drainAndRelease();
      }
      return end;
    },
  };
}
