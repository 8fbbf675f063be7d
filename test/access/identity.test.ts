import type { AccessToken } from '@azure/identity';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createIdentity, inBrief, NoToken } from '../../src/access/identity.ts';
import { createTroubles, type Troubles } from '../../src/observing/log.ts';
import { settings } from '../support/environment.ts';
import { recordingLog } from '../support/observed.ts';

// What is kept of the platform's tokens (D365), in virtual time.

const minute = 60_000;
const scope = 'https://hub.example/.default';
let log: ReturnType<typeof recordingLog>;
let troubles: Troubles;
let asked: string[];
let answer: (scope: string) => Promise<AccessToken | null>;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  log = recordingLog();
  troubles = createTroubles(log as never);
  asked = [];
  answer = issuing(60 * minute);
});
afterEach(() => troubles.close());

const issuing = (lifeMs: number, more: object = {}) => {
  let number = 0;
  return async () => {
    number += 1;
    return { token: `token-${number}`, expiresOnTimestamp: Date.now() + lifeMs, ...more } as AccessToken;
  };
};
const failing = (message: string) => async () => {
  throw new Error(message);
};

function tokens(of = scope) {
  const open = async () => ({
    getToken: async (wanted: string | string[]) => {
      asked.push(String(wanted));
      return answer(String(wanted));
    },
  });
  return createIdentity(settings.identity, troubles, open)(of);
}

describe('a token', () => {
  it('is asked for once, whatever number of clients want it, and kept until five minutes before its end', async () => {
    const { getToken } = tokens();
    const [first, second] = await Promise.all([getToken(), getToken()]);
    expect([first.token, second.token, asked]).toEqual(['token-1', 'token-1', [scope]]);
    vi.advanceTimersByTime(54 * minute);
    expect((await getToken()).token).toBe('token-1');
    vi.advanceTimersByTime(2 * minute);
    expect((await getToken()).token).toBe('token-2');
  });

  it('is for the scope of the settings, whatever a client asks for', async () => {
    const { getToken } = tokens();
    await (getToken as (scopes: string) => Promise<AccessToken>)('https://iothubs.azure.net/.default');
    expect(asked).toEqual([scope]);
  });

  it('is replaced when the platform asks for it', async () => {
    answer = issuing(60 * minute, { refreshAfterTimestamp: Date.now() + 10 * minute });
    const { getToken } = tokens();
    await getToken();
    vi.advanceTimersByTime(11 * minute);
    expect((await getToken()).token).toBe('token-2');
  });

  it('keeps its end when the clock of the machine is set', async () => {
    const { getToken } = tokens();
    await getToken();
    vi.setSystemTime(Date.now() - 600 * minute);
    vi.advanceTimersByTime(56 * minute);
    expect((await getToken()).token).toBe('token-2');
  });

  it('serves until three minutes before its end while the platform gives none, which is told once', async () => {
    const { getToken } = tokens();
    await getToken();
    answer = failing('AADSTS1\nat https://login.example/?client_assertion=eyJ');
    vi.advanceTimersByTime(56 * minute);
    expect((await getToken()).token).toBe('token-1');
    expect(log.lines).toMatchObject([
      { level: 'warn', message: 'the identity gets no token', fields: { scope, cause: 'Error: AADSTS1' } },
    ]);
    vi.advanceTimersByTime(1.5 * minute);
    await expect(getToken()).rejects.toThrow(NoToken);
    expect(JSON.stringify(log.lines)).not.toContain('eyJ');
    answer = issuing(60 * minute);
    expect((await getToken()).token).toBe('token-1');
    expect(log.lines.at(-1)).toMatchObject({ message: 'the identity gets tokens again', fields: { scope } });
  });

  it('is not waited for without end', async () => {
    answer = () => new Promise(() => {});
    const waiting = expect(tokens().getToken()).rejects.toThrow(/TooLate/);
    await vi.advanceTimersByTimeAsync(20_000);
    await waiting;
  });
});

it('the platform is asked again after it could not be reached at first', async () => {
  let isThere = false;
  const open = async () => {
    if (!isThere) throw new Error('AZURE_TENANT_ID is missing');
    return { getToken: issuing(60 * minute) };
  };
  const { getToken } = createIdentity(settings.identity, undefined, open)(scope);
  await expect(getToken()).rejects.toThrow(/AZURE_TENANT_ID is missing/);
  isThere = true;
  expect((await getToken()).token).toBe('token-1');
});

it.each([
  [60 * minute, 4.5 * minute],
  [4 * minute, 4 * minute],
])(
  'the client of events is told of %d ms that a token lives %d, as it renews for ever at the interval of a link’s first token',
  async (lifeMs, toldMs) => {
    answer = issuing(lifeMs);
    const { token, expiresOnTimestamp } = await inBrief(tokens()).getToken();
    expect([token, expiresOnTimestamp - Date.now()]).toEqual(['token-1', toldMs]);
  },
);
