import { outboundAgent } from '@device-messaging/telemetry/outbound.ts';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ServiceAccess } from '../../src/access/access.ts';
import type { ScopedTokens } from '../../src/access/identity.ts';
import { useHubTransport } from '../../src/hub/hubTransport.ts';
import { AmqpConnection, Client, isTokenEnding, newServiceClient } from '../../src/hub/serviceSdk.ts';

// The hub's client with an identity: its scope, and the end of its token (D366).

const scope = 'https://hubs.sovereign.example/.default';
const lifeMs = 60 * 60_000;
const credential: ScopedTokens = {
  scope,
  getToken: async () => ({ token: 't', expiresOnTimestamp: Date.now() + lifeMs }),
};
const open = () => newServiceClient({ hostName: 'hub.example', credential });

type Config = { readonly tokenScope: string; readonly tokenCredential: { getToken(scope: string): Promise<unknown> } };
const configOf = (part: '_transport' | '_restApiClient'): Config =>
  Reflect.get(Reflect.get(open(), part), '_config') as Config;

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }));

it.each(['_transport', '_restApiClient'] as const)('%s puts the scope of the settings for the audience', (part) =>
  expect(configOf(part).tokenScope).toBe(scope),
);

it.each([
  ['with other scopes', { tokenCredential: credential, scopes: ['another/.default'] }],
  ['without what gets tokens', { tokenScope: 'https://iothubs.azure.net/.default' }],
])('another version of the client stops, instead of asking for a token of the wrong cloud: %s', (_, config) => {
  vi.spyOn(Client, 'fromTokenCredential').mockImplementation((host, _, Transport) => {
    new (Transport as never as new (config: object) => object)({ host, ...config });
    throw new Error('not reached');
  });
  expect(open).toThrow(/this version of azure-iothub/);
});

describe('over WebSockets', () => {
  beforeEach(() => useHubTransport({ transport: 'websockets' }));
  afterEach(() => useHubTransport({ transport: 'amqp' }));

  it.each<[by: string, access: ServiceAccess]>([
    ['an identity', { hostName: 'hub.example', credential }],
    ['a key', 'HostName=hub.example;SharedAccessKeyName=n;SharedAccessKey=a2V5'],
  ])(
    'a client with %s asks the hub for AMQP at the port of HTTPS, with our agent and its own settings',
    (_, access) => {
      const connect = vi.spyOn(AmqpConnection.prototype, 'connect').mockImplementation(() => {});
      newServiceClient(access).open(() => {});
      expect(connect.mock.calls).toEqual([
        [
          {
            uri: 'wss://hub.example/$iothub/websocket',
            userAgentString: expect.stringMatching(/^azure-iothub/),
            sslOptions: expect.objectContaining({ agent: outboundAgent, handshakeTimeout: 9_000 }),
          },
          expect.any(Function),
        ],
      ]);
    },
  );
});

describe('a client whose renewal has failed', () => {
  it('counts as ending two minutes before its token', async () => {
    const client = open();
    const transport = Reflect.get(client, '_transport') as { getToken(): Promise<unknown> };
    expect(isTokenEnding(client)).toBe(false);
    await transport.getToken();
    vi.advanceTimersByTime(lifeMs - 120_000);
    expect(isTokenEnding(client)).toBe(false);
    vi.advanceTimersByTime(1);
    expect(isTokenEnding(client)).toBe(true);
    await transport.getToken();
    expect(isTokenEnding(client)).toBe(false);
  });

  it('is another matter than one with a key, whose token the client makes itself', () =>
    expect(isTokenEnding(newServiceClient('HostName=h.test;SharedAccessKeyName=n;SharedAccessKey=a2V5'))).toBe(false));
});
