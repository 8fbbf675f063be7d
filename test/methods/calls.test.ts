import { describe, expect, it, vi } from 'vitest';
import { Cancelled, createDeadline, type Deadline } from '../../src/backends/deadline.ts';
import type { Lineage, TypeMethods } from '../../src/backends/typeRegistry.ts';
import type { DirectMethod, DirectMethodResult } from '../../src/hub/methods/directMethods.ts';
import { type Invocation, readInvocation } from '../../src/methods/contract.ts';
import type { FileInputs } from '../../src/methods/fileInputs.ts';
import { createInvoke } from '../../src/methods/invoke.ts';
import { createInvocationRecords } from '../../src/observing/invocationRecords.ts';
import { createLog } from '../../src/observing/log.ts';
import { noMeter } from '../../src/observing/metrics.ts';
import type { MethodFailure } from '../../src/protocol/vocabulary.ts';
import { withFakeTimers } from '../support/waiting.ts';

// From an authorized request to the method's result, with a type registry, a storage and a hub that do what the test says (M4 to M7).

withFakeTimers();

const methodsOf = (methods: Readonly<Record<string, Readonly<Record<string, string>> | undefined>>): TypeMethods => ({
  methods: new Map(Object.entries(methods).map(([name, inputs = {}]) => [name, new Map(Object.entries(inputs))])),
  baseTypes: [],
});
const numbers = { rpm: 'integer', torque: 'number' };
const dataTypes = { label: 'string', ...numbers, reverse: 'boolean', image: 'file', shape: 'shape' };
const known: Lineage = { types: [methodsOf({ configure: dataTypes, stop: undefined })], unknown: [] };
const payload = { status: 7 };
const done: DirectMethodResult = { kind: 'response', status: 200, payload, text: '{"payload":{"status":7}}' };

interface Given {
  readonly method?: string;
  readonly type?: string;
  readonly lineage?: Lineage;
  readonly lineageOf?: Parameters<typeof createInvoke>[0]['backends']['lineageOf'];
  readonly result?: DirectMethodResult;
  readonly files?: FileInputs;
  readonly edgeModule?: string;
  readonly body?: Invocation;
  readonly deadline?: Deadline;
}

async function invoke(given: Given) {
  const { method = 'configure', type = 'motor@1.0.0', lineage = known, result = done } = given;
  const { edgeModule = '', body = {}, deadline = createDeadline(8) } = given;
  const called: DirectMethod[] = [];
  const recorded: DirectMethodResult[] = [];
  const asked: unknown[] = [];
  const steps: string[] = [];
  const records = createInvocationRecords({ log: createLog('silent'), meter: noMeter, hubHost: '' });
  const settings = { correlationId: 'c-1', objectId: 'as the caller spells it', model: 'svc.device', method };
  const observation = records.begin(settings);
  const run = createInvoke({
    backends: {
      async lineageOf(call, model, ref) {
        const { deviceId, correlationId } = call;
        asked.push({ deviceId, correlationId, model, ref });
        return given.lineageOf?.(call, model, ref) ?? lineage;
      },
    },
    directMethods: {
      async invoke(call) {
        called.push(call);
        return result;
      },
      ...{ abort() {}, close() {} },
    },
    recordOutcome: (outcome) => recorded.push(outcome),
    async fileInputs(request) {
      await undefined;
      for (const { what, of } of observation.open) steps.push(`${what}: ${of}`);
      return given.files?.(request);
    },
    edgeModule,
  });
  const route = { device: 'gateway-1', target: 'bus/drive-1' };
  const object = { objectId: 'o-1', type };
  const request = { observation, object, route, claims: { tid: 'acme' }, deadline };
  const outcome = await run(request, body).catch((error) => error);
  return { outcome, called, recorded, asked, steps, fields: observation.fields };
}

const rule = (reason: string, detail: RegExp) => ({ reason, detail: expect.stringMatching(detail) });

describe('an invocation', () => {
  it('is one direct method with all that the device needs, and its result is that of the method', async () => {
    const files = vi.fn<FileInputs>(async () => ({ image: { url: 'u', bytes: 5, etag: 'e' } }));
    const body = { input: { label: 'x', image: 'a.bin' }, timeout: 17 };
    const { outcome, called, recorded, asked, steps, fields } = await invoke({ body, files, edgeModule: 'proxy' });
    expect(outcome).toEqual({ status: 7 });
    expect(called).toEqual([
      {
        ...{ device: 'gateway-1', module: 'proxy', timeoutSeconds: 17 },
        payload: {
          ...{ correlationId: 'c-1', objectId: 'o-1', model: 'svc.device', target: 'bus/drive-1' },
          ...{ method: 'configure', timeout: 17, input: body.input },
          files: { image: { url: 'u', bytes: 5, etag: 'e' } },
        },
      },
    ]);
    expect(files.mock.calls[0]?.[0]).toMatchObject({ input: body.input, claims: { tid: 'acme' }, timeout: 17 });
    expect([recorded, steps]).toEqual([[done], ['sign the files: file storage']]);
    const ref = { typeId: 'motor', version: '1.0.0' };
    const of = { deviceId: 'gateway-1', correlationId: 'c-1', model: 'svc.device' };
    expect(asked).toEqual([{ ...of, ref: expect.objectContaining(ref) }]);
    expect(fields).toMatchObject({ timeout: 17, methodStatus: 7 });
  });

  it('has 30 seconds and an empty input by default, and no input when the method declares none', async () => {
    const configured = await invoke({});
    expect(configured.called).toMatchObject([{ timeoutSeconds: 30, payload: { timeout: 30, input: {} } }]);
    expect(configured.called[0]?.payload).not.toHaveProperty('files');
    const stopped = await invoke({ method: 'stop' });
    expect(stopped.called[0]?.payload).not.toHaveProperty('input');
  });

  it('has a payload of 131,072 bytes at most', async () => {
    const sizeWith = async (length: number) =>
      invoke({ body: { input: { label: 'é'.repeat(Math.floor(length / 2)) + 'x'.repeat(length % 2) } } });
    const [{ payload } = { payload: null }] = (await sizeWith(0)).called;
    const room = 131_072 - Buffer.byteLength(JSON.stringify(payload));
    expect((await sizeWith(room)).outcome).toEqual({ status: 7 });
    const { outcome, called } = await sizeWith(room + 1);
    expect([outcome, called]).toMatchObject([rule('too_large', /has 131073 bytes, at most 131072/), []]);
  });

  it.each<[what: string, during: (end: () => void) => Given]>([
    ['its files are signed', (end) => ({ files: async () => void end() as undefined })],
    [
      'its type is looked up',
      (end) => ({
        lineageOf() {
          end();
          return new Promise(() => {});
        },
      }),
    ],
  ])('that ends while %s is not sent', async (_, during) => {
    const ended = new AbortController();
    const given = during(() => ended.abort());
    const { outcome, called } = await invoke({ ...given, deadline: createDeadline(8, ended.signal) });
    expect([outcome, called]).toMatchObject([{ name: 'Cancelled' }, []]);
  });
});

describe('an input', () => {
  it.each([
    ['label', '"x"', undefined],
    ['label', '7', /^input "label" must be a string$/],
    ['label', 'null', /^input "label" must be a string$/],
    ['rpm', '1.0e3', undefined],
    ['rpm', '1.5', /^input "rpm" must be an integer within/],
    ['rpm', '9007199254740992', /^input "rpm" must be an integer within ±\(2\^53−1\)$/],
    ['rpm', '0.99999999999999999999', /^input "rpm" must be an integer within/],
    ['torque', '0.99999999999999999999', undefined],
    ['torque', '"1"', /^input "torque" must be a number$/],
    ['reverse', 'false', undefined],
    ['reverse', '0', /^input "reverse" must be true or false$/],
    ['reverse', '"true"', /^input "reverse" must be true or false$/],
    ['image', '"a/b.bin"', undefined],
    ['image', '".."', /^input "image" must be a file name/],
    ['shape', '{"any":[1]}', undefined],
    ['speed', '1', /^input "speed" is not declared by the method$/],
    ['constructor', '1', /^input "constructor" is not declared/],
  ])('%s may be %s, unless %s {S23.1 S23.4}', async (name, value, problem) => {
    const body = readInvocation(Buffer.from(`{"input":{"${name}":${value}}}`));
    const { outcome, called } = await invoke({ body });
    if (problem === undefined) expect(called.length).toBe(1);
    else expect([outcome, called]).toMatchObject([rule('invalid_request', problem), []]);
  });

  it('is named with the others that are wrong, and is none of a method without inputs', async () => {
    const { outcome } = await invoke({ body: { input: { rpm: {}, reverse: 0 } } });
    expect(outcome).toMatchObject(rule('invalid_request', /^input "rpm" must be .*; input "reverse" must be/));
    const stopped = await invoke({ method: 'stop', body: { input: { label: 'x' } } });
    expect(stopped.outcome).toMatchObject(rule('invalid_request', /"label" is not declared/));
  });
});

describe('a method', () => {
  const none: Lineage = { types: [], unknown: ['motor@1.0.0'] };
  it.each<[what: string, given: Given, failure: object]>([
    ['of no known type', { lineage: none }, rule('type_not_found', /know "motor@1.0.0", the type of this object$/)],
    ['of an object with a malformed type', { type: 'a/b@x' }, rule('type_not_found', /does not know "a\/b@x"/)],
    ['that is not declared', { method: 'explode' }, rule('method_not_found', /declare the method "explode"$/)],
    ['whose name is misspelt', { method: 'stpo' }, rule('method_not_found', /"stpo"; did you mean "stop"\?$/)],
    ['whose name has other letters', { method: 'STOP' }, rule('method_not_found', /"STOP"; did you mean "stop"\?$/)],
    [
      'of a base type that is not known',
      { method: 'explode', lineage: { ...known, unknown: ['machine@2'] } },
      rule('method_not_found', /the method "explode"; the type registry does not know the base type "machine@2"$/),
    ],
  ])('%s is refused', async (_, given, failure) => {
    const { outcome, called } = await invoke(given);
    expect([outcome, called]).toMatchObject([failure, []]);
  });
});

it('a type registry that is out fails the invocation at once, and another failure is passed on', async () => {
  const out = await invoke({
    lineageOf({ deadline, onOutage }) {
      expect(deadline.remaining()).toBe(8_000);
      onOutage?.();
      return deadline.unlessCancelled(new Promise(() => {}));
    },
  });
  expect(out.outcome).toMatchObject({ ...rule('backend_unavailable', /registry is unavailable/), retryAfter: 5 });
  for (const error of [new Error('a defect'), new Cancelled('the front door stops')])
    expect((await invoke({ lineageOf: () => Promise.reject(error) })).outcome).toBe(error);
});

describe('a call that fails at the hub', () => {
  it.each<[failure: MethodFailure, expected: object]>([
    ['quota', { ...rule('throttled', /daily quota/), retryAfter: 3600 }],
    ['invalid', { ...rule('internal_error', /tell its operator/), invoked: 'no' }],
    ['device_unknown', rule('device_unknown', /not registered at the hub, or is disabled/)],
    ['unavailable', rule('hub_unavailable', /the hub is unavailable; nothing was invoked/)],
    ['too_large', rule('too_large', /reduce the input/)],
    ['no_reply', rule('no_reply', /did not respond in time/)],
    ['stopped', { reason: 'outcome_unknown', invoked: 'unknown' }],
    ['stopped_unsent', { reason: 'stopping', invoked: 'no', retryAfter: 1 }],
  ])('as %s is told, and recorded', async (failure, expected) => {
    const result = { kind: 'failure', failure } as const;
    const { outcome, recorded } = await invoke({ result });
    expect([outcome, recorded]).toMatchObject([expected, [result]]);
  });
});
