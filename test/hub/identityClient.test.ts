import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { clientFor, isTokenEnding } from '../../src/hub/replies/identityClient.ts';
import { Client } from '../../src/hub/replies/serviceSdk.ts';
import type { ScopedTokens } from '../../src/identity/identity.ts';

// The hub's client with an identity: its scope, and the end of its token (D366).

const scope = 'https://hubs.sovereign.example/.default';
const lifeMs = 60 * 60_000;
const credential: ScopedTokens = {
  scope,
  getToken: async () => ({ token: 't', expiresOnTimestamp: Date.now() + lifeMs }),
};
const open = () => clientFor({ hostName: 'hub.example', credential });

interface Config {
  readonly tokenScope: string;
  readonly tokenCredential: { getToken(scope: string): Promise<unknown> };
}
const configOf = (part: '_transport' | '_restApiClient'): Config =>
  Reflect.get(Reflect.get(open(), part), '_config') as Config;

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }));
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it.each(['_transport', '_restApiClient'] as const)('%s puts the scope of the settings for the audience', (part) => {
  expect(configOf(part).tokenScope).toBe(scope);
});

it('another version of the client stops, instead of asking for a token of the wrong cloud', () => {
  vi.spyOn(Client, 'fromTokenCredential').mockImplementation((host, tokenCredential, Transport) => {
    new (Transport as never as new (config: object) => object)({ host, tokenCredential, scopes: ['another/.default'] });
    throw new Error('not reached');
  });
  expect(open).toThrow(/this version of azure-iothub/);
});

describe('a client whose renewal has failed', () => {
  it('counts as ending two minutes before its token', async () => {
    const client = open();
    const transport = Reflect.get(client, '_transport') as { getToken(): Promise<unknown> };
    expect(isTokenEnding(client)).toBe(false);
    await transport.getToken();
    vi.advanceTimersByTime(lifeMs - 125_000);
    expect(isTokenEnding(client)).toBe(false);
    vi.advanceTimersByTime(10_000);
    expect(isTokenEnding(client)).toBe(true);
    await transport.getToken();
    expect(isTokenEnding(client)).toBe(false);
  });

  it('is another matter than one with a key, whose token the client makes itself', () => {
    expect(isTokenEnding(clientFor('HostName=hub.example;SharedAccessKeyName=n;SharedAccessKey=a2V5'))).toBe(false);
  });
});
