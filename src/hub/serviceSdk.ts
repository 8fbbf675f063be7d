import { Amqp as ServiceTransport } from 'azure-iothub/dist/amqp.js';
import { Client } from 'azure-iothub/dist/client.js';
import type { ServiceAccess } from '../access/access.ts';
import type { ScopedTokens } from '../access/identity.ts';
import { currentOf, isSecret } from '../access/secretFiles.ts';
import { monotonicOfComing } from '../concurrency/clocks.ts';
import { overWebSockets, type WebSockets } from './hubTransport.ts';

/*
 * Parts of `azure-iothub` that it does not export, for messages with properties, for sendBytes and for sdkCures, and its
 * client without the rest (D144). Only this file imports from its folders.
 */
export { translateError } from 'azure-iothub/dist/amqp_service_errors.js';
export { Amqp as AmqpConnection } from 'azure-iothub/dist/common-amqp/amqp.js';
export { SenderLink } from 'azure-iothub/dist/common-amqp/sender_link.js';
export { default as errors } from 'azure-iothub/dist/common-core/errors.js';
export { Message } from 'azure-iothub/dist/common-core/message.js';
export { SharedAccessSignature } from 'azure-iothub/dist/common-core/shared_access_signature.js';
export { Client };

/** Of an identity: when the last token ends that they have given, as `performance.now()`. */
type TokensUntil = { readonly endsAt: number };

/** The only scope that this version of the client asks for (D366). */
const fixedScope = 'https://iothubs.azure.net/.default';

export const noRetry = { shouldRetry: () => false, nextRetryTimeout: () => -1 };

/** A client that gets in by a connection string, or an identity, whose scope it has fixed: the settings' replaces it. @throws Error for another version */
export function newServiceClient(access: ServiceAccess): Client {
  const webSockets = overWebSockets();
  const Transport = webSockets === undefined ? ServiceTransport : serviceWebSockets(webSockets);
  if (isSecret(access)) return Client.fromConnectionString(currentOf(access), Transport as never);
  const { hostName, credential } = access;
  class ScopedTransport extends Transport {
    readonly tokens: TokensUntil;

    /** @param config what the client gives its transport, and its requests over HTTPS: one object for both */
    constructor(config: { tokenScope?: string; tokenCredential?: ScopedTokens | undefined }) {
      if (config.tokenScope !== fixedScope || config.tokenCredential === undefined)
        throw new Error('this version of azure-iothub takes the scope of an identity in another way (D366)');
      const { scope } = credential;
      const tokens = {
        scope,
        endsAt: Number.POSITIVE_INFINITY,
        async getToken() {
          const token = await credential.getToken();
          tokens.endsAt = monotonicOfComing(token.expiresOnTimestamp);
          return token;
        },
      };
      Object.assign(config, { tokenScope: scope, tokenCredential: tokens });
      super(config as never);
      this.tokens = tokens;
    }
  }
  return Client.fromTokenCredential(hostName, credential, ScopedTransport as never);
}

/** A client whose renewal has failed once never renews again: it is replaced this long before the end of its token (SDK trap). */
const marginMs = 2 * 60_000;

/** Whether the token of a client with an identity is about to end, because its renewal has failed. */
export function isTokenEnding(client: Client): boolean {
  const { tokens }: { readonly tokens?: TokensUntil } = Reflect.get(client, '_transport') ?? {};
  return tokens !== undefined && tokens.endsAt - performance.now() < marginMs;
}

/** The client's transport over WebSockets, in place of its own, which has the port fixed and takes no agent (D405). */
const serviceWebSockets = ({ addressOf, webSocketSettings }: WebSockets): typeof ServiceTransport =>
  class extends ServiceTransport {
    constructor(config: ConstructorParameters<typeof ServiceTransport>[0]) {
      super(config);
      const amqp: { connect(settings: object, done: () => void): void } = Reflect.get(this, '_amqp');
      const connect = amqp.connect.bind(amqp);
      amqp.connect = (settings, done) => connect({ ...settings, sslOptions: webSocketSettings() }, done);
    }

    protected override _getConnectionUri(): string {
      return addressOf(this._config.host, 'service');
    }
  };
