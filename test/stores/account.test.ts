import { ContainerClient } from '@azure/storage-blob';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { connectionStringTo } from '../../sandbox/methods/azurite.ts';
import type { AccountAccess } from '../../src/access/access.ts';
import { clientOptions, openContainer, StorageError } from '../../src/stores/account.ts';
import { serve } from '../backends/harness.ts';
import { rotatingSecret } from '../support/secretVolume.ts';
import { withFakeTimers } from '../support/waiting.ts';

// How often a request to an account is made, when, for how long, and with which key (D397).

const limits = { attemptMs: 4_000, attempts: 4, pauseMs: 200 };
const failure = (statusCode?: number, code?: string) => Object.assign(new Error('not told'), { statusCode, code });

/** An account whose key changes when the test says so, or when the account has refused it. The key is a port, too. */
const rotating = (...ports: number[]) => rotatingSecret(...ports.map((port) => connectionStringTo(port)));

const open = (account: AccountAccess = connectionStringTo(1), given = limits) =>
  openContainer({ account, container: 'c' }, 'storage', given);

describe('a request to an account', () => {
  withFakeTimers();
  let given: number[];
  beforeEach(() => {
    given = [];
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      given.push(ms);
      return new AbortController().signal;
    });
  });

  /** When it was made, in milliseconds from the first time, and what came of it. */
  async function attemptsOf(answers: readonly (Error | string)[], leftMs = 60_000, account?: AccountAccess) {
    const { attempt } = open(account);
    const began = performance.now();
    const at: number[] = [];
    const outcome = attempt('reading', began + leftMs, async () => {
      at.push(performance.now() - began);
      const answer = answers[Math.min(at.length, answers.length) - 1];
      if (answer instanceof Error) throw answer;
      return answer;
    }).catch((error) => error);
    await vi.advanceTimersByTimeAsync(2 * leftMs);
    return { at, outcome: await outcome };
  }

  it('is given the rest of its time, including fractions of a millisecond', async () => {
    const { attempt } = open();
    for (const leftMs of [0.25, 3.5, 3_999.5, 10_000])
      await expect(attempt('reading', performance.now() + leftMs, async () => leftMs)).resolves.toBe(leftMs);
    expect(given).toEqual([1, 4, 4_000, 4_000]);
  });

  it.each([undefined, 408, 429, 500, 502, 503, 504])(
    'is repeated after the status %s, each time after twice the pause, and then given up',
    async (status) => {
      const { at, outcome } = await attemptsOf([failure(status, 'Busy')]);
      expect(at).toEqual([0, 200, 600, 1_400]);
      expect(outcome).toMatchObject({ name: 'StorageError', status, code: 'Busy' });
      expect(given).toEqual([4_000, 4_000, 4_000, 4_000]);
    },
  );

  it.each([400, 403, 404, 409, 412])('is made once when the status is %s', async (status) => {
    const { at, outcome } = await attemptsOf([failure(status)]);
    expect([at, outcome]).toEqual([[0], new StorageError('storage: reading', status, 'Error')]);
  });
  it('succeeds when a repeat does', async () =>
    expect(await attemptsOf([failure(503), failure(), 'read'])).toEqual({ at: [0, 200, 600], outcome: 'read' }));

  it('is not repeated when its time has passed before the pause has, and a repeat is given only the rest', async () => {
    const { at } = await attemptsOf([failure(503)], 1_000);
    expect(at).toEqual([0, 200, 600]);
    expect(given).toEqual([1_000, 800, 400]);
  });

  it.each([401, 403])('is repeated with the next key after the status %s, without a pause', async (status) => {
    const { client, attempt } = open(rotating(1, 2, 3).secret);
    const used: string[] = [];
    const answers = [failure(status), failure(status), 'read'];
    const asked = attempt('reading', performance.now() + 10, async () => {
      used.push(new URL(client().url).port);
      const answer = answers[used.length - 1];
      if (answer instanceof Error) throw answer;
      return answer;
    });
    expect([await asked, used]).toEqual(['read', ['1', '2', '3']]);
  });

  it('ends with the refusal when its time has passed, whatever other keys there are', async () => {
    const { secret } = rotating(...Array(100).keys());
    const renew = vi.spyOn(secret, 'renew');
    const asked = open(secret).attempt('reading', performance.now() + 1_000, async () => {
      await vi.advanceTimersByTimeAsync(400);
      throw failure(403);
    });
    await expect(asked).rejects.toMatchObject({ status: 403 });
    expect(renew).toHaveBeenCalledTimes(2);
  });
});

describe('a container', () => {
  const by = () => performance.now() + 10_000;
  /** Its making meets these failures, one after the other. */
  function callsWhere(...failures: Error[]) {
    let made = 0;
    vi.spyOn(ContainerClient.prototype, 'createIfNotExists').mockImplementation(async () => {
      made += 1;
      const next = failures.shift();
      if (next) throw next;
      return { succeeded: true } as never;
    });
    return { ...open(undefined, { ...limits, attempts: 1 }), made: () => made };
  }

  it('is made once, by whatever number of calls', async () => {
    const { ensureContainer, made } = callsWhere();
    for (let calls = 0; calls < 3; calls += 1) await ensureContainer(by());
    expect(made()).toBe(1);
  });

  it.each([
    ['could not be reached', failure()],
    ['was busy', failure(503)],
    ['is being deleted', failure(409, 'ContainerBeingDeleted')],
    ['refused the key', failure(401)],
  ])('is made by the next call after one that failed because the account %s', async (_why, error) => {
    const { ensureContainer, made } = callsWhere(error);
    await expect(ensureContainer(by())).rejects.toThrow('creating the container failed');
    await ensureContainer(by());
    await ensureContainer(by());
    expect(made()).toBe(2);
  });

  it('is taken for there when the key may not make it', async () => {
    const { ensureContainer, made } = callsWhere(failure(403));
    for (let calls = 0; calls < 2; calls += 1) await ensureContainer(by());
    expect(made()).toBe(1);
  });

  it('is made again when a request has not found it', async () => {
    const { attempt, ensureContainer, made } = callsWhere();
    await ensureContainer(by());
    const lost = attempt('reading', by(), () => Promise.reject(failure(404, 'ContainerNotFound')));
    await expect(lost).rejects.toThrow('ContainerNotFound');
    await ensureContainer(by());
    expect(made()).toBe(2);
  });
});

describe('the client of an account', () => {
  const identity = { scope: 's', getToken: async () => ({ token: 't', expiresOnTimestamp: 0 }) };

  it('is one for each key, and that of the key of the moment', () => {
    const { secret, change } = rotating(1, 2);
    const { client } = open(secret);
    const first = client();
    expect([new URL(first.url).port, client()]).toEqual(['1', first]);
    change();
    const second = client();
    expect([new URL(second.url).port, client()]).toEqual(['2', second]);
    expect(client()).toBe(second);
  });

  it.each([
    ['has come during the request', true],
    ['comes when the account refuses the last one', false],
  ])('is told of another key that %s', async (_when, isEarly) => {
    const { secret, change } = rotating(1, 2);
    let attempts = 0;
    const refused = open(secret).attempt('reading', performance.now() + 1_000, async () => {
      attempts += 1;
      if (isEarly && attempts === 1) change();
      throw failure(403);
    });
    await expect(refused).rejects.toMatchObject({ status: 403 });
    expect(attempts).toBe(2);
  });

  it('is told of no other key where there is one for good, or an identity', async () => {
    for (const access of [connectionStringTo(1), { url: 'https://account.example', credential: identity }]) {
      const { client, attempt } = open(access);
      expect(client()).toBe(client());
      const once = vi.fn(() => Promise.reject(failure(403)));
      await expect(attempt('reading', performance.now() + 1_000, once)).rejects.toMatchObject({ status: 403 });
      expect(once).toHaveBeenCalledTimes(1);
    }
  });

  it('has its address without the slashes that may end it', () =>
    expect(open({ url: 'https://a.example//', credential: identity }).client().url).toBe('https://a.example/c'));

  it('makes a request once: repeats are counted here', async () => {
    let requests = 0;
    const url = await serve((_request, answer) => {
      requests += 1;
      answer.writeHead(503).end();
    });
    const client = new ContainerClient(connectionStringTo(Number(new URL(url).port)), 'c', clientOptions());
    await expect(client.getProperties()).rejects.toMatchObject({ statusCode: 503 });
    expect(requests).toBe(1);
  });
});
