import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTokens } from '../../../sandbox/backends/credentials/tokens.ts';
import { fetchToken, http, startTestBackends, type TestBackends } from './client.ts';

const client = { clientId: 'service', clientSecret: 'a&b:c=d' };
const grant = { grant_type: 'client_credentials' };
const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
const inForm = form({ ...grant, client_id: client.clientId, client_secret: client.clientSecret });
const inHeader = `Basic ${Buffer.from(`service:${encodeURIComponent(client.clientSecret)}`).toString('base64')}`;

function issued(body: string | undefined): string {
  return `Bearer ${JSON.parse(body ?? '').access_token}`;
}

describe('tokens', () => {
  it('are issued to the client, with credentials in the form or in the header', () => {
    const tokens = createTokens(client, 60);
    for (const answer of [tokens.issue(inForm, undefined), tokens.issue(form(grant), inHeader)]) {
      expect(answer.status).toBe(200);
      expect(JSON.parse(answer.body ?? '')).toMatchObject({ token_type: 'Bearer', expires_in: 60 });
      expect(tokens.accepts(issued(answer.body))).toBe(true);
    }
  });

  it('are issued for each of the secrets that the client has', () => {
    const tokens = createTokens(client, 60);
    const statusWith = (client_secret: string) =>
      tokens.issue(form({ ...grant, client_id: client.clientId, client_secret }), undefined).status;
    tokens.setSecrets('next', client.clientSecret);
    expect([statusWith('next'), statusWith(client.clientSecret)]).toEqual([200, 200]);
    tokens.setSecrets('next');
    expect([statusWith('next'), statusWith(client.clientSecret)]).toEqual([200, 401]);
  });

  it.each([
    ['a wrong secret', form({ ...grant, client_id: 'service', client_secret: 'x' }), 401, 'invalid_client'],
    ['no client', form(grant), 401, 'invalid_client'],
    ['another grant', inForm.replace('client_credentials', 'password'), 400, 'unsupported_grant_type'],
    ['a JSON body', JSON.stringify({ ...grant, client_id: 'service', ...client }), 401, 'invalid_client'],
  ])('are refused for %s', (_, text, status, error) => {
    const answer = createTokens(client, 60).issue(text, undefined);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body ?? '')).toMatchObject({ error });
    expect(answer.body).not.toContain('a&b');
  });

  it('are valid for exactly their lifetime', () => {
    let now = 0;
    const tokens = createTokens(client, 60, () => now);
    const token = issued(tokens.issue(inForm, undefined).body);
    now = 59_999;
    expect(tokens.accepts(token)).toBe(true);
    now = 60_000;
    expect(tokens.accepts(token)).toBe(false);
    const next = issued(tokens.issue(inForm, undefined).body);
    expect([tokens.accepts(token), tokens.accepts(next)]).toEqual([false, true]);
  });
});

describe('the token endpoint', () => {
  let test: TestBackends;
  beforeAll(async () => {
    test = await startTestBackends({ tokenLifetimeSeconds: 120 });
  });
  afterAll(() => test.close());

  const read = (token: string) =>
    http(test.backends.principalManagerUrl, 'GET', '/devices?device=pump-1', undefined, {
      authorization: `Bearer ${token}`,
      'x-svc-device-id': 'pump-1',
    });

  it('issues tokens that all backends accept until they are revoked', async () => {
    const token = await fetchToken(test.backends);
    expect((await read(token)).status).toBe(200);
    test.backends.token.revokeAll();
    expect((await read(token)).status).toBe(401);
    expect((await read(await fetchToken(test.backends))).status).toBe(200);
  });

  it('leaves neither secret nor token in the journal', async () => {
    const token = await fetchToken(test.backends);
    await read(token);
    const journal = JSON.stringify(test.backends.journal.list());
    expect(journal).toContain('/oauth2/token');
    expect(journal).not.toContain(token);
    expect(journal).not.toContain(test.backends.token.clientSecret);
  });
});
