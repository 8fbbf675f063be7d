import { describe, expect, it, vi } from 'vitest';
import { createBackends } from '../../src/backends/backends.ts';
import { informationModel } from '../../src/backends/informationModel.ts';
import { createObjectReader } from '../../src/backends/objectOnBehalf.ts';
import { Refusal } from '../../src/backends/refusal.ts';
import { type Adapter, createLargeAnswer } from '../../src/backends/transport.ts';
import { keysOf } from '../../src/protocol/json.ts';
import { courseOf, recordingLog } from '../support/observed.ts';
import type { ScriptedReply } from '../support/scriptedBackend.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { callOf, openBackend, rejection, scripted, settings } from './harness.ts';

const get = 'GET /objects/o1/models/svc.device';
const put = 'PUT /objects/o1/models/svc.device';
const stored = { objectId: 'o1', model: 'svc.device', type: 'pump@1.0.0', version: 1 };
const ok: ScriptedReply = [200, stored];

withFakeTimers();

describe('a call to a backend', () => {
  it('names the device in its headers, and the message that it belongs to', async () => {
    const { informationModel, script } = scripted([{ call: get, reply: ok }]);
    await informationModel.getModel('o1', 'svc.device');
    expect(script.calls[0]?.headers).toEqual({
      authorization: 'Bearer static-token',
      'x-svc-device-id': 'd1',
      'x-correlation-id': 'c-1',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    });
  });

  it('percent-encodes header values and truncates a long correlation id between characters', async () => {
    const { backends, script } = scripted([{ call: get, reply: ok }]);
    const call = callOf({ deviceId: 'd 1\r\nx-evil: 1', correlationId: `a${'€'.repeat(100)}` });
    await backends.bind(call).informationModel.getModel('o1', 'svc.device');
    const headers = script.calls[0]?.headers;
    expect(headers?.['x-svc-device-id']).toBe('d%201%0D%0Ax-evil%3A%201');
    const correlationId = headers?.['x-correlation-id'] ?? '';
    expect(correlationId.length).toBeLessThanOrEqual(512);
    expect(decodeURIComponent(correlationId)).toBe(`a${'€'.repeat(56)}`);
  });

  it('carries a body and its type byte for byte', async () => {
    const body = '{"version": 1, "properties": {"n": 12345678901234567890, "x": 1.0}}';
    const { informationModel } = scripted([
      { call: put, headers: { 'content-type': 'application/json' }, body, reply: ok },
    ]);
    await informationModel.replaceModel('o1', 'svc.device', body);
  });

  it.each(['.', '..', '..a', '', '\ud800', 'a/b', 'a\\b', 'a?b', 'a#b', 'a%2fb', 'a\nb'])(
    'is not made with %j in its path, which not every proxy keeps as one segment',
    async (segment) => {
      const { informationModel } = scripted([]);
      await expect(informationModel.getModel('o1', segment)).rejects.toThrow('an id cannot be put into a path');
    },
  );
});

it('an idempotency key is sent with calls that change something, and with no others', async () => {
  const { informationModel, script } = scripted([
    { call: get, reply: ok },
    { call: 'POST /query', reply: [200, { data: [] }] },
    { call: put, reply: ok },
  ]);
  await informationModel.getModel('o1', 'svc.device');
  await informationModel.query('svc.device', 'pump', new Map(), () => {});
  await informationModel.replaceModel('o1', 'svc.device', '{}');
  const keys = script.calls.map(({ headers }) => headers['idempotency-key']);
  expect(keys).toEqual([undefined, undefined, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
});

describe('the outcome of a call', () => {
  it('of a refusal names the operation, the status and the backend’s own words, and no secrets', async () => {
    const detail = `pump\u0000\r\nA1 static-token or own-secret see https://im.invalid/errors?x=1 ${'x'.repeat(400)}`;
    const error = { code: '409', title: 'Version mismatch', detail, meta: { version: 4 } };
    const answer = { call: put, reply: [409, { errors: [error] }] } as const;
    const { informationModel } = scripted([answer], { clientSecret: 'own-secret' });
    const refusal = await rejection(informationModel.replaceModel('o1', 'svc.device', '{}'));
    expect(refusal).toBeInstanceOf(Refusal);
    expect((refusal as Refusal).meta).toEqual({ version: 4 });
    const head =
      'information model: replace object model failed with HTTP 409: Version mismatch: pump A1 … or … see … xxx';
    expect(refusal.details.startsWith(head)).toBe(true);
    expect(refusal.details.length).toBeLessThan(370);
  });

  it.each([
    ['no JSON', '<html>'],
    ['nothing', ''],
    ['half a JSON text', '{"objectId":'],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['another thing', '{"hello":"world"}'],
    ['an object model without a version', '{"objectId":"o1","model":"svc.device"}'],
  ])('of an answer that is %s is an incident, whose cause is only in the log', async (_, body) => {
    const { informationModel, log } = scripted([{ call: get, reply: [200, body] }]);
    const refusal = await rejection(informationModel.getModel('o1', 'svc.device'));
    expect(refusal.code).toBe('internal_platform_error');
    const incident = /^internal error, incident ([0-9a-f-]{36})$/.exec(refusal.details)?.[1];
    expect(log.lines).toEqual([
      {
        level: 'error',
        message: 'backend call failed',
        fields: {
          ...{ incident, backend: 'information model', operation: 'read object model', status: 200 },
          cause: expect.any(String),
        },
      },
    ]);
  });

  it.each([
    ['quotes no value of the request', Error, 'no such name: “…”'],
    ['is in the words of the service', TypeError, 'no such name: “pump-17”'],
  ])('of an answer that cannot be read has a cause that %s', async (_, Failure, cause) => {
    const adapter: Adapter = async (config) => ({
      ...{ status: 200, statusText: '', headers: {}, data: Buffer.from('{}'), config },
    });
    const { bind, log } = openBackend({ adapter });
    const read = {
      keys: keysOf([]),
      result: () => {
        throw new Failure('no such name: “pump-17”');
      },
    };
    const request = { operation: 'create type definition', method: 'POST', path: '/types', read } as const;
    const work = bind(callOf())({ ...request, body: '{"typeId":"pump-17"}' });
    expect((await rejection(work)).code).toBe('internal_platform_error');
    expect(log.lines[0]?.fields['cause']).toBe(cause);
  });

  it('of an unexpected failure is an incident', async () => {
    const log = recordingLog();
    const adapter = async () => {
      throw new TypeError(`nobody\n  foresaw this ${'x'.repeat(400)}`);
    };
    const { informationModel } = createBackends(settings, log, { adapter }).bind(callOf());
    expect((await rejection(informationModel.getModel('o1', 'svc.device'))).code).toBe('internal_platform_error');
    expect(log.lines[0]?.fields['cause']).toBe(`nobody foresaw this ${'x'.repeat(280)}`);
  });
});

const objectId = '00000000-0000-4000-8000-000000000001';
const model = { objectId, model: 'svc.device', type: 'pump', version: 1 };

/** An information model whose answers each have room, and how often it was given back when they were read. */
function answering(data: string, status = 200) {
  const released: boolean[] = [];
  const adapter: Adapter = async (config) =>
    ({
      ...{ status, statusText: '', headers: {}, data: Buffer.from(data), config },
      release: () => void released.push(true),
    }) as never;
  const { backend, bind } = openBackend({ adapter });
  const readObject = createObjectReader(backend);
  return { backend, released, readObject, calls: informationModel(bind(callOf())) };
}

type Answering = ReturnType<typeof answering>;

const asCaller = ({ readObject }: Answering) =>
  readObject(objectId, 'svc.device', {
    ...{ token: 'theirs', isKnown: true, correlationId: 'c', observation: courseOf() },
    deadline: callOf().deadline,
  });

it.each<[what: string, data: string, use: (one: Answering) => unknown]>([
  ['has been read', JSON.stringify(model), ({ calls }) => calls.getModel(objectId, 'svc.device')],
  ['cannot be read', '{', ({ calls }) => calls.getModel(objectId, 'svc.device')],
  ['need not be read', '{}', ({ calls }) => calls.addReferences(objectId, 'svc.device', '[]')],
  ['has been read for a caller', JSON.stringify(model), asCaller],
  ['cannot be read for a caller', '[', asCaller],
  ['is that to a probe', '{}', ({ backend }) => backend.circuit.probeNow('a test')],
])('the room of an answer that %s is given back once', async (_, data, use) => {
  const one = answering(data);
  await Promise.resolve(use(one)).catch(() => undefined);
  await vi.waitUntil(() => one.released.length > 0);
  expect(one.released).toEqual([true]);
});

it.each([203, 206, 404])('the room of an answer %i to the look-up for a caller is given back once', async (status) => {
  const one = answering(JSON.stringify(model), status);
  expect(await asCaller(one)).not.toMatchObject({ kind: 'object' });
  expect(one.released).toEqual([true]);
});

it('room that comes after the answer has broken off is given back at once', async () => {
  const given: number[] = [];
  let come = (_: boolean) => {};
  const take = () =>
    new Promise<boolean>((resolve) => {
      come = resolve;
    });
  const answer = createLargeAnswer({ take, shrink() {}, give: (bytes) => void given.push(bytes) }, 500);
  answer.release();
  expect(given).toEqual([]);
  come(true);
  await answer.waiting;
  expect(given).toEqual([1_000]);
});
