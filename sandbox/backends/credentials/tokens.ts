import { randomBytes } from 'node:crypto';
import { type Answer, json } from '../routes/route.ts';

/** The one client that may ask for tokens. */
export interface Client {
  readonly clientId: string;
  readonly clientSecret: string;
}

const refusal = (status: number, error: string, description: string): Answer =>
  json(status, { error, error_description: description });

function credentials(form: URLSearchParams, authorization: string | undefined): Client {
  const basic = /^basic (.+)$/i.exec(authorization ?? '')?.[1];
  if (basic === undefined) {
    return { clientId: form.get('client_id') ?? '', clientSecret: form.get('client_secret') ?? '' };
  }
  // RFC 6749 §2.3.1: both halves are form-encoded before they are joined.
  const halves = new URLSearchParams(
    Buffer.from(basic, 'base64')
      .toString()
      .replace(/^([^:]*):(.*)$/s, 'id=$1&secret=$2'),
  );
  return { clientId: halves.get('id') ?? '', clientSecret: halves.get('secret') ?? '' };
}

/** OAuth 2 client credentials (RFC 6749 §4.4): issues bearer tokens that live `lifetimeSeconds`, and verifies them. */
export function createTokens(client: Client, lifetimeSeconds: number, now: () => number = Date.now) {
  /** Token → when it expires, in ms; insertion order is order of expiry. */
  const expiries = new Map<string, number>();
  let secrets: readonly string[] = [client.clientSecret];

  function forgetExpired(): void {
    for (const [token, expiry] of expiries) {
      if (expiry > now()) return;
      expiries.delete(token);
    }
  }

  return {
    /** Answers a token request: its form text and `authorization` header. */
    issue(text: string, authorization: string | undefined): Answer {
      const form = new URLSearchParams(text);
      const { clientId, clientSecret } = credentials(form, authorization);
      if (clientId !== client.clientId || !secrets.includes(clientSecret)) {
        return refusal(401, 'invalid_client', 'the client id or secret is wrong');
      }
      if (form.get('grant_type') !== 'client_credentials') {
        return refusal(400, 'unsupported_grant_type', 'grant_type must be client_credentials');
      }
      forgetExpired();
      const token = randomBytes(32).toString('base64url');
      expiries.set(token, now() + lifetimeSeconds * 1000);
      return json(200, { access_token: token, token_type: 'Bearer', expires_in: lifetimeSeconds });
    },
    /** Whether an `authorization` header carries a token of ours that still lives. */
    accepts(authorization: string | undefined): boolean {
      const token = /^bearer (.+)$/i.exec(authorization ?? '')?.[1];
      return token !== undefined && (expiries.get(token) ?? 0) > now();
    },
    /** The secrets that the client has from now on: two while one replaces the other. */
    setSecrets(...others: readonly string[]) {
      secrets = others;
    },
    /** Makes every token invalid at once, as a rotated key would. */
    revokeAll: () => expiries.clear(),
  };
}

export type Tokens = ReturnType<typeof createTokens>;
