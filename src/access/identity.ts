import { readFileSync } from 'node:fs';
import type { AccessToken, TokenCredential } from '@azure/identity';
import { dateOf, monotonicOfComing } from '../concurrency/clocks.ts';
import { lazy, singleFlight, within } from '../concurrency/waiting.ts';
import type { Troubles } from '../observing/log.ts';
import type { Settings } from '../settings/config.ts';

/** Tokens for one service, in the form that all its clients take. */
export interface ScopedTokens extends TokenCredential {
  readonly scope: string;
  /** A token for `scope`, whatever scope is asked for: some clients have that of the public cloud fixed. @throws NoToken */
  getToken(): Promise<AccessToken>;
}

/** The platform has given no token. The message has no request and no answer. */
export class NoToken extends Error {
  override readonly name = 'NoToken';
}

const withinMs = 20_000;

/** The service client renews a token at two thirds of its life, the event client at intervals (`inBrief`); they get a new one by then. */
const freshMs = 5 * 60_000;
/** While the platform gives none, the last one serves until the clients could do nothing with it. */
const lastMs = 3 * 60_000;

/**
 * The tokens of this process’s identity. Loads the platform's library, which takes as much as the rest of a start, for the first.
 * @param open replaces the platform
 */
export function createIdentity(
  settings: Settings['identity'],
  troubles?: Troubles,
  open: () => Promise<TokenCredential> = async () => (await import('./platform.ts')).platformCredential(settings),
) {
  const credential = lazy(open);
  const known = new Map<string, ScopedTokens>();

  function tokensOf(scope: string): ScopedTokens {
    let current: { readonly token: AccessToken; readonly ends: number; readonly due: number } | undefined;
    const source = `tokens for ${scope}`;

    const renew = singleFlight(async () => {
      try {
        const token = await within((await credential()).getToken(scope), withinMs);
        if (token === null) throw new Error('an empty answer');
        const { expiresOnTimestamp, refreshAfterTimestamp = expiresOnTimestamp } = token;
        const ends = monotonicOfComing(expiresOnTimestamp);
        current = { token, ends, due: Math.min(ends - freshMs, monotonicOfComing(refreshAfterTimestamp)) };
        troubles?.clear(source, 'the identity gets tokens again', { scope });
        return token;
      } catch (error) {
        const cause = causeOf(error);
        const [fields, diagnosis] = [{ scope }, { setting: 'IDENTITY', cause }];
        const trouble = { level: 'warn', message: 'the identity gets no token', fields, diagnosis } as const;
        troubles?.raise(source, { ...trouble, still: () => ({}) });
        if (current !== undefined && current.ends - performance.now() > lastMs) return current.token;
        throw new NoToken(`the identity gets no token: ${cause}`);
      }
    });

    const getToken = async () => (current !== undefined && performance.now() < current.due ? current.token : renew());
    return { scope, getToken };
  }

  /** The same for all that ask for one scope. */
  return (scope: string): ScopedTokens => {
    const tokens = known.get(scope) ?? tokensOf(scope);
    known.set(scope, tokens);
    return tokens;
  };
}

const briefMs = 270_000;

/**
 * For the client of events, which renews each link for ever at the interval that it takes from the link's first token, two minutes less than its
 * life: told of four and a half, it asks every two and a half.
 */
export const inBrief = (tokens: ScopedTokens): ScopedTokens => ({
  scope: tokens.scope,
  async getToken() {
    const token = await tokens.getToken();
    return { ...token, expiresOnTimestamp: Math.min(token.expiresOnTimestamp, dateOf(performance.now() + briefMs)) };
  },
});

/** One line: the library explains at length. */
function causeOf(error: unknown): string {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return `${name}: ${message.split(/[\r\n]/, 1)[0]}`.slice(0, 300);
}

/** What the platform should have given the process for its identity, and has not: one sentence for each fault (D365). */
export function missingOfPlatform({ kind, clientId }: Settings['identity'], env: NodeJS.ProcessEnv): string[] {
  if (kind !== 'workload') return [];
  const needed = ['AZURE_TENANT_ID', 'AZURE_FEDERATED_TOKEN_FILE', ...(clientId === '' ? ['AZURE_CLIENT_ID'] : [])];
  const missing = needed.filter((name) => !env[name]);
  const file = env['AZURE_FEDERATED_TOKEN_FILE'] ?? '';
  const why = 'which the platform sets for a service account';
  return [
    ...missing.map((name) => `identity.kind: IDENTITY=workload needs ${name}, ${why}`),
    ...(file !== '' && !canRead(file) ? [`AZURE_FEDERATED_TOKEN_FILE: ${file} cannot be read, or is empty`] : []),
  ];
}

function canRead(file: string): boolean {
  try {
    return readFileSync(file, 'utf8').trim() !== '';
  } catch {
    return false;
  }
}
