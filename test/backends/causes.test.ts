import type { AxiosAdapter } from 'axios';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type BoundBackends, createBackends } from '../../src/backends/backends.ts';
import { createDeadline } from '../../src/backends/deadline.ts';
import { TransportFailure } from '../../src/backends/transport.ts';
import { recordingLog } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { callOf, rejection, settings } from './harness.ts';

// What each answer of a backend, or none, means for each call (result codes, B4, B5).

withFakeTimers();

const id = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
const stored = { objectId: id, model: 'm', type: 'pump@1.0.0', version: 6, ownerId: 'p1', properties: { a: 1 } };
const principal = { id: 'p1', identity: 'd1', path: 'd1', parentId: null };
const definition = { typeId: 'pump', version: '1.0.0' };
const create = JSON.stringify({ objectId: id, model: 'm', type: 'pump' });
const replacement = JSON.stringify({ type: 'pump', version: 5, properties: { a: 1 } });

interface Asked {
  readonly ask: (backends: BoundBackends) => Promise<unknown>;
  /** The answer with which it succeeds. */
  readonly answer: object;
  /** Statuses that do not mean what they mean for other calls. */
  readonly otherwise?: Readonly<Record<number, string>>;
}

const absent = { 404: 'nothing' };

const calls: Readonly<Record<string, Asked>> = {
  'a model that may be absent': {
    ask: ({ informationModel }) => informationModel.getModel(id, 'm'),
    ...{ answer: stored, otherwise: absent },
  },
  'a model': { ask: ({ informationModel }) => informationModel.existingModel(id, 'm'), answer: stored },
  'a creation': { ask: ({ informationModel }) => informationModel.createModel('p1', create), answer: stored },
  'a replacement': { ask: ({ informationModel: of }) => of.replaceModel(id, 'm', replacement), answer: stored },
  'a claim': {
    ask: ({ informationModel }) => informationModel.claim(id, 'm', 'p1').then(() => ({})),
    ...{ answer: {}, otherwise: { 409: 'not_authorized' } }, // another owns it
  },
  'references that may be absent': {
    ask: ({ informationModel }) => informationModel.references(id, 'm', () => {}),
    ...{ answer: { data: [] }, otherwise: absent },
  },
  'new references': { ask: ({ informationModel: of }) => of.addReferences(id, 'm', '[]').then(() => ({})), answer: {} },
  'a look-up': {
    ask: ({ informationModel }) => informationModel.query('m', 'pump', new Map(), () => {}).then(() => ({})),
    answer: { data: [] },
  },
  'a type that may be absent': {
    ask: ({ typeRegistry }) => typeRegistry.getType('m', 'pump', '1.0.0'),
    ...{ answer: definition, otherwise: absent },
  },
  'a new type': { ask: ({ typeRegistry: of }) => of.createType('m', JSON.stringify(definition)), answer: definition },
  'an identity': { ask: ({ principalManager: of }) => of.resolve('edge', 'd1'), answer: { data: [principal] } },
  'an update of an identity': {
    ask: ({ principalManager }) => principalManager.updateIdentity('p1', '{}').then(() => ({})),
    answer: {},
  },
  'a deletion': { ask: ({ principalManager: of }) => of.deleteIdentity('p1', false).then(() => ({})), answer: {} },
};

type Answer = number | readonly [status: number, body: object] | 'refused' | 'lost' | 'silent' | 'large';

function answering(answer: (call: string, number: number) => Answer, changes: Partial<typeof settings> = {}) {
  const asked: { readonly call: string; readonly key: string | undefined }[] = [];
  const adapter: AxiosAdapter = async (config) => {
    const call = `${config.method} ${config.url}`;
    asked.push({ call, key: config.headers['idempotency-key'] as string | undefined });
    const said = answer(call, asked.length);
    if (said === 'refused') throw new TransportFailure('connection refused', false);
    if (said === 'lost') throw new TransportFailure('connection lost', true);
    if (said === 'large') throw new TransportFailure('answer too large', true);
    if (said === 'silent') {
      await new Promise((resolve) => setTimeout(resolve, config.timeout));
      throw new TransportFailure('no answer in time', true);
    }
    const [status, body] = typeof said === 'number' ? [said, {}] : said;
    return { status, statusText: '', headers: {}, data: Buffer.from(JSON.stringify(body)), config };
  };
  const around = { ...settings, attemptTimeoutSeconds: 1, circuitFailures: 1_000, ...changes };
  const backends = createBackends(around, recordingLog(), { adapter, random: () => 1 });
  onTestFinished(() => backends.close());
  return { backends, asked, attempts: () => asked.length };
}

/** What comes of a call of a message with this deadline: its code, `nothing` or `done`; all the time it wants passes. */
async function outcomeOf({ ask }: Asked, backends: ReturnType<typeof createBackends>, seconds = 3) {
  const bound = backends.bind(callOf({ deadline: createDeadline(seconds) }));
  const asking = rejection(ask(bound).then((value) => Promise.reject(value === undefined ? 'nothing' : 'done')));
  const outcome = asking.then(
    ({ code, details }) => ({ code: code as string, details }),
    (other: unknown) => (typeof other === 'string' ? { code: other, details: '' } : Promise.reject(other)),
  );
  await vi.advanceTimersByTimeAsync(seconds * 1000);
  return outcome;
}

const each = Object.entries(calls);

/** The causes, and what is told of them unless the call is another one. */
const final: readonly (readonly [Answer, string])[] = [
  ...[400, 404, 405, 409, 410, 412, 422, 451].map((status) => [status, 'http_response_error'] as const),
  [403, 'not_authorized'],
  ...[300, 301, 302, 304, 307, 501, 505].map((status) => [status, 'internal_platform_error'] as const),
  ['large', 'response_too_large'],
];

describe.each(each)('an answer to a call for %s', (_, asked) => {
  it('that no repeat would change is told at once', async () => {
    const told: unknown[] = [];
    for (const [answer] of final) {
      const { backends, attempts } = answering(() => answer);
      const { code } = await outcomeOf(asked, backends);
      told.push([answer, code, attempts()]);
    }
    const meant = final.map(([answer, code]) => [answer, asked.otherwise?.[answer as number] ?? code, 1]);
    // Nothing is known of references that are not there; `undefined` is what the call returns in both cases.
    expect(told).toEqual(meant);
  });

  const passing: readonly Answer[] = [401, 408, 425, 429, 502, 503, 504, 'refused', 'lost', 'silent'];

  it('that a repeat may change is waited for, with the same idempotency key', async () => {
    const success = [200, asked.answer] as const;
    const { backends } = answering(() => success);
    const done = (await outcomeOf(asked, backends)).code;
    expect(['done', 'nothing']).toContain(done);
    const told: unknown[] = [];
    for (const answer of [...passing, 500 as const]) {
      const { backends, asked: came } = answering((_call, number) => (number <= 2 ? answer : success));
      const { code } = await outcomeOf(asked, backends);
      told.push([answer, code, came.length, new Set(came.map(({ key }) => key)).size]);
    }
    expect(told).toEqual([...passing, 500].map((answer) => [answer, done, 3, 1]));
  });

  it('that lasts to the end of the message is a time-out that names it; 500 is an incident after three attempts', async () => {
    const names = { refused: 'connection refused', lost: 'connection lost', silent: 'no answer in time', large: '' };
    for (const answer of passing) {
      const { backends, attempts } = answering(() => answer);
      const { code, details } = await outcomeOf(asked, backends);
      const name = typeof answer === 'string' ? names[answer] : `HTTP ${answer}`;
      expect([answer, code, details]).toEqual([answer, 'timeout_exceeded', expect.stringMatching(`: ${name}$`)]);
      expect(attempts()).toBeGreaterThan(1);
    }
    const { backends, attempts } = answering(() => 500);
    const { code, details } = await outcomeOf(asked, backends);
    expect([code, details, attempts()]).toEqual(['internal_platform_error', expect.stringContaining('incident'), 3]);
  });
});

describe('a repeated change, when the answer to the first attempt', () => {
  /**
   * @param status the answer to the second attempt
   * @param own what is then read back when the first attempt did it
   * @param others what is read back when somebody else did
   */
  type Repeated = [name: string, status: number, code: string, own: object | undefined, others: object | undefined];

  const changes: Repeated[] = [
    ['a creation', 409, 'http_response_error', stored, { ...stored, ownerId: 'p2' }],
    ['a replacement', 409, 'http_response_error', stored, { ...stored, properties: { a: 2 } }],
    ['a claim', 409, 'not_authorized', stored, { ...stored, ownerId: 'p2' }],
    ['a new type', 409, 'http_response_error', definition, { ...definition, version: '1.0.1' }],
    ['a deletion', 404, 'http_response_error', undefined, undefined],
    ['an update of an identity', 404, 'http_response_error', undefined, undefined],
    ['new references', 404, 'http_response_error', undefined, undefined],
  ];

  const lost: readonly Answer[] = ['lost', 'silent', 500, 502, 504];
  const untouched: readonly Answer[] = ['refused', 401, 408, 425, 429, 503];

  /** The first attempt ends in this way, the second with a refusal; then this is stored. */
  async function repeated(name: string, first: Answer, status: number, found: object | undefined) {
    const { backends, asked: came } = answering((call, number) => {
      if (call.startsWith('GET ')) return found === undefined ? 404 : [200, found];
      return number === 1 ? first : status;
    });
    const { code } = await outcomeOf(calls[name] as Asked, backends);
    return [first, code, came.filter(({ call }) => call.startsWith('GET ')).length];
  }

  describe.each(changes)('is lost: %s', (change, status, code, own, others) => {
    const isProof = change === 'a deletion'; // without reading back, the repeat itself proves the effect
    const reads = own === undefined ? 0 : 1;

    it('has succeeded when it has done what was asked, and has its refusal otherwise', async () => {
      for (const first of lost) {
        const isDone = own !== undefined || isProof;
        expect(await repeated(change, first, status, own)).toEqual([first, isDone ? 'done' : code, reads]);
        if (own === undefined) continue;
        expect(await repeated(change, first, status, others)).toEqual([first, code, reads]);
        expect(await repeated(change, first, status, undefined)).toEqual([first, code, reads]);
      }
    });

    it('has any other refusal at once', async () => {
      for (const first of lost) {
        expect(await repeated(change, first, 403, own)).toEqual([first, 'not_authorized', 0]);
        for (const other of [400, 410, 422, ...(status === 404 ? [409] : [])])
          expect(await repeated(change, first, other, own)).toEqual([first, 'http_response_error', 0]);
      }
    });

    it('has its refusal when the first attempt cannot have done it', async () => {
      for (const first of untouched) expect(await repeated(change, first, status, own)).toEqual([first, code, 0]);
    });
  });
});

const all = (answers: readonly Answer[], state: 'open' | 'closed') =>
  answers.map((answer): [Answer, 'open' | 'closed'] => [answer, state]);

it.each<[Answer, 'open' | 'closed']>([
  ...all(['refused', 'lost', 'silent', 401, 502, 503, 504], 'open'),
  ...all([200, 301, 400, 403, 404, 405, 408, 409, 410, 422, 425, 429, 501, 505, 'large'], 'closed'),
])('what two devices get when it is %s, leaves the circuit %s', async (answer, state) => {
  const { backends } = answering((call) => (call.includes('none') ? 200 : answer), { circuitFailures: 2 });
  const work = ['d1', 'd2'].map((deviceId) => {
    const call = callOf({ deviceId, deadline: createDeadline(1.05) });
    return backends.bind(call).informationModel.addReferences(id, 'm', '[]');
  });
  const settled = Promise.allSettled(work);
  await vi.advanceTimersByTimeAsync(1_010);
  expect(backends.states().informationModel.circuit).toBe(state);
  await vi.advanceTimersByTimeAsync(1_000);
  await settled;
});

it.each<[Answer, 'open' | 'closed']>([
  ...all([200, 400, 403, 404, 409, 410, 422], 'closed'),
  ...all([408, 425, 429, 500, 'large'], 'open'),
])(
  'between two failures, an answer of %s shows whether the backend works: the circuit is %s',
  async (answer, state) => {
    const { backends } = answering((_call, number) => (number === 2 ? answer : 503), { circuitFailures: 2 });
    for (const deviceId of ['d1', 'd2', 'd3']) {
      const call = callOf({ deviceId, deadline: createDeadline(0.05) });
      const work = Promise.allSettled([backends.bind(call).informationModel.addReferences(id, 'm', '[]')]);
      await vi.advanceTimersByTimeAsync(50);
      await work;
    }
    expect(backends.states().informationModel.circuit).toBe(state);
  },
);
