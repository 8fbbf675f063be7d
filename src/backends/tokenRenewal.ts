import { z } from 'zod';
import type { Troubles } from '../log/troubles.ts';
import type { BackendState } from './state.ts';
import { createTokenOutage } from './tokenOutage.ts';
import { NoAccessToken, type TokenSource } from './tokenSource.ts';

interface RenewalOptions {
  /**
   * Asks for a token.
   * @param isRepeat whether it has been asked for in vain
   */
  readonly request: (isRepeat: boolean) => Promise<{ readonly token: string; readonly lifeMs: number }>;
  readonly troubles: Troubles;
  /** For operators: in the words for failures of backends. */
  readonly failureOf: (error: unknown) => string;
  /** Called at the begin of each outage. */
  readonly onOutage: () => void;
  readonly state: () => Pick<BackendState, 'connections' | 'oldestMs'>;
  readonly close: () => Promise<void>;
}

/** A token is renewed in the background after this share of its lifetime. */
const renewAt = 0.8;
const retryMs = 5000;
const source = 'token endpoint';

/** Keeps a token of a limited life, and renews it. At most one request runs at a time. */
export function createRenewal(options: RenewalOptions): TokenSource {
  const { request, troubles, failureOf, onOutage, state, close } = options;
  let current: { readonly token: string; readonly expires: number } | undefined;
  let nextRenewal = 0;
  let pending: Promise<string> | undefined;
  const outage = createTokenOutage(onOutage);
  const hasToken = () => current !== undefined && performance.now() < current.expires;

  async function renew(): Promise<string> {
    const { token, lifeMs } = await request(outage.now() !== undefined);
    const now = performance.now();
    current = { token, expires: now + lifeMs };
    nextRenewal = now + lifeMs * renewAt;
    outage.end();
    troubles.clear(source, 'there is an access token for the backends');
    return token;
  }

  function fetchToken(): Promise<string> {
    pending ??= renew()
      .catch((error: unknown) => {
        nextRenewal = performance.now() + retryMs;
        // A parser's message may quote the response, and with it a token.
        const cause = error instanceof SyntaxError || error instanceof z.ZodError ? 'unreadable answer' : error;
        const diagnosis = { cause: cause instanceof Error ? cause.message : cause };
        // It lasts until there is a token, also while no call needs one.
        const still = () => ({});
        troubles.raise(source, { level: 'warn', message: 'no access token for the backends', diagnosis, still });
        outage.begin(failureOf(error));
        throw new NoAccessToken('no access token');
      })
      .finally(() => {
        pending = undefined;
      });
    return pending;
  }

  const probe = async () => ({
    healthy: await fetchToken().then(
      () => true,
      () => false,
    ),
    retryAfterMs: 0,
  });

  return {
    token() {
      if (current === undefined || !hasToken()) return fetchToken();
      // The current token is still valid: no call waits for the next one, and a failure to get it is retried later.
      if (performance.now() >= nextRenewal && pending === undefined) fetchToken().catch(() => undefined);
      return current.token;
    },
    async renew(refused) {
      return current !== undefined && current.token !== refused ? current.token : fetchToken();
    },
    isOut: () => outage.now() !== undefined && !hasToken(),
    untilBack: () => (hasToken() ? undefined : outage.untilOver(probe)),
    state: () => ({ circuit: outage.now() ? 'open' : 'closed', outage: outage.now(), ...state() }),
    async close() {
      outage.close();
      await close();
    },
  };
}
