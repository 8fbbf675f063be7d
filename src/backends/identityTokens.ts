import { comingMoment } from '../concurrency/clocks.ts';
import type { ScopedTokens } from '../identity/identity.ts';
import type { Troubles } from '../log/troubles.ts';
import { type Meter, noMeter } from '../metrics/meter.ts';
import { createRequestRecords } from '../observing/callRecords.ts';
import { createRenewal } from './tokenRenewal.ts';
import type { TokenSource } from './tokenSource.ts';

/** Tokens of the process's identity, for one backend (D365). */
export function identityTokens(credential: ScopedTokens, troubles: Troubles, meter: Meter = noMeter): TokenSource {
  return createRenewal({
    async request() {
      const { token, expiresOnTimestamp } = await credential.getToken();
      return { token, lifeMs: comingMoment(expiresOnTimestamp) - performance.now() };
    },
    troubles,
    failureOf: () => 'no token of the identity',
    onOutage: createRequestRecords('tokenEndpoint', meter).out,
    state: () => ({ connections: { inUse: 0, waiting: 0 }, oldestMs: 0 }),
    close: async () => {},
  });
}
