import type { Client } from 'azure-iothub';
import { comingMoment } from '../../concurrency/clocks.ts';
import type { ServiceAccess } from '../../identity/access.ts';
import type { ScopedTokens } from '../../identity/identity.ts';
import { currentOf, isSecret } from '../../identity/secretFiles.ts';
import { overWebSockets } from '../transport/hubTransport.ts';
import { Client as ServiceClient, ServiceTransport } from './serviceSdk.ts';
import { serviceWebSockets } from './serviceWebSockets.ts';

/** What the client gives its transport, and its requests over HTTPS: one object for both. */
interface TransportConfig {
  tokenScope?: string;
  tokenCredential?: ScopedTokens | undefined;
}

/** The only scope that this version of the client asks for (D366). */
const fixedScope = 'https://iothubs.azure.net/.default';

/**
 * A client of the hub that gets in with an identity, or by a connection string. The client has its scope fixed, which names what
 * the hub checks the token for; this replaces it by that of the settings.
 * @throws Error for another version of the client, which this does not fit
 */
export function clientFor(access: ServiceAccess): Client {
  const webSockets = overWebSockets();
  const Transport = webSockets === undefined ? ServiceTransport : serviceWebSockets(webSockets);
  if (isSecret(access)) return ServiceClient.fromConnectionString(currentOf(access), Transport as never);
  const { hostName, credential } = access;
  class ScopedTransport extends Transport {
    readonly tokens: WatchedTokens;

    constructor(config: TransportConfig) {
      if (config.tokenScope !== fixedScope || config.tokenCredential === undefined)
        throw new Error('this version of azure-iothub takes the scope of an identity in another way (D366)');
      const tokens = watched(credential);
      Object.assign(config, { tokenScope: credential.scope, tokenCredential: tokens });
      super(config as never);
      this.tokens = tokens;
    }
  }
  return ServiceClient.fromTokenCredential(hostName, credential, ScopedTransport as never);
}

interface WatchedTokens extends ScopedTokens {
  /** When the last token ends that it has given, as `performance.now()`. */
  endsAt(): number;
}

function watched(tokens: ScopedTokens): WatchedTokens {
  let endsAt = Number.POSITIVE_INFINITY;
  return {
    scope: tokens.scope,
    async getToken() {
      const token = await tokens.getToken();
      endsAt = comingMoment(token.expiresOnTimestamp);
      return token;
    },
    endsAt: () => endsAt,
  };
}

/** A client whose renewal has failed once never renews again: it is replaced this long before the end of its token (SDK trap). */
const marginMs = 2 * 60_000;

/** Whether the token of a client with an identity is about to end, because its renewal has failed. */
export function isTokenEnding(client: Client): boolean {
  const transport: { readonly tokens?: WatchedTokens } | undefined = Reflect.get(client, '_transport');
  const tokens = transport?.tokens;
  return tokens !== undefined && tokens.endsAt() - performance.now() < marginMs;
}
