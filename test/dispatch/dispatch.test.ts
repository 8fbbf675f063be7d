import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { createTaps, type TapEvent } from '../../src/observing/taps.ts';
import { bytesReceived, bytesToReserve } from '../../src/protocol/body.ts';
import type { Delivery } from '../../src/protocol/vocabulary.ts';
import { messageLimits } from '../../src/settings/constants.ts';
import { idOf } from '../../src/stores/deadLetter.ts';
import { LetterRefused } from '../../src/stores/deadLetterStore.ts';
import { type Dispatched, dispatchEvent } from '../support/dispatching.ts';
import { bearerToken } from '../support/environment.ts';
import { hubEvent } from '../support/events.ts';
import { sumsOf } from '../support/observed.ts';
import { failsToTheEnd, type Script } from '../support/scriptedBackend.ts';
import { now } from '../support/wiring.ts';
import { device, devicePrincipal, noConfiguration, problem, pump, pumpId } from '../support/world.ts';
import { event, failing, properties, pumpBody, success } from './support/creation.ts';

const configuration = JSON.stringify(pump({ model: 'svc.configuration' }));
const notified = [...success.slice(0, -1), { ...noConfiguration(pumpId), reply: [200, configuration] }] as const;

const answerTo = async (event: ReturnType<typeof hubEvent>) => {
  const { replies, handled } = await dispatchEvent(event, []);
  expect([handled, replies.length]).toEqual([true, 1]);
  return JSON.parse(replies[0]?.body ?? '');
};

const anEvent = { msgType: undefined, action: undefined, 'svc-messagetype': 'platformEvent' };

describe('a bad message gets a clear failed acknowledgement', () => {
  const none = 'operation_not_supported';
  const long = 'x'.repeat(64);
  it.each([
    ['a body nested too deep', { body: '['.repeat(129) + ']'.repeat(129) }, 'body is nested more than 128 levels deep'],
    [
      'an action of 64 characters',
      { properties: { action: long } },
      /^action "x{64}" is not one of this service/,
      none,
    ],
    [
      'an event that is none of ours {S3.3}',
      { properties: { ...anEvent, eventType: 'Svc.Device.Deleted' } },
      'eventType "Svc.Device.Deleted" is not one of this service; the nearest is Svc.Device.Created',
      none,
    ],
    ['an owner too long for a backend', { properties: { owner: 'x'.repeat(9_000) } }, /^property owner is too long/],
    [
      'an owner too long for a backend, of an event',
      { properties: { ...anEvent, eventType: 'Svc.Device.Created', owner: 'x'.repeat(9_000) } },
      /^property owner is too long/,
      'platform_event_validation_error',
    ],
    [
      'a compression that only the standard property names',
      { body: gzipSync('{}'), systemProperties: { contentEncoding: 'GZIP' } },
      /; the application property content-encoding counts, not the standard one, which says GZIP$/,
    ],
  ])('%s', async (_what, given, details, code = 'validation_error') => {
    const also = 'properties' in given ? given.properties : {};
    const answer = await answerTo(hubEvent({ body: pumpBody, ...given, properties: { ...properties, ...also } }));
    expect(answer).toMatchObject({ success: false, code });
    expect(answer.details).toMatch(details);
  });

  const someMessage = expect.stringMatching(/^[a-z]+\.[a-z]+$/);
  it.each<[what: string, action: string, nearest: unknown, shown?: string]>([
    ['an action that is none of ours {S1.7 S2.3 S9.17}', 'model.query', 'model.create'],
    ['an action named like a property of every object {S2.3}', 'constructor', someMessage],
    ['an action named like an event', 'Svc.Device.Created', someMessage],
    ['an action in other letters', 'Model.Create', 'model.create'],
    ['an action with a letter too few', 'identity.delet', 'identity.delete'],
    [
      'an action that would hide in a log, and is long',
      `model."\r\n\u202e\u0085${'x'.repeat(30_000)}`,
      'model.create',
      `model.\\"\ufffd\ufffd\ufffd\ufffd${'x'.repeat(53)}…`,
    ],
  ])('%s', async (_what, action, nearest, shown = action) => {
    const answer = await answerTo(hubEvent({ properties: { ...properties, action }, body: pumpBody }));
    expect(answer).toMatchObject({ success: false, code: none });
    const [said, found] = answer.details.split('; the nearest is ');
    expect([said, found]).toEqual([`action "${shown}" is not one of this service`, nearest]);
  });

  it('keys like __proto__ are only text to the service, and reach the backend as sent', async () => {
    const body = `{"__proto__":{"objectId":"${pumpId}"},"constructor":1,"model":"svc.device","type":"__proto__"}`;
    const { replies } = await dispatchEvent(hubEvent({ properties, body }), [
      device,
      { call: 'GET /modelDefinitions/svc.device/types/__proto__', reply: problem(404, 'Not found') },
      {
        call: `POST /object?owner=${devicePrincipal}`,
        body: `{"objectId":"78cd15df-cdb1-5e1f-aadc-511773aa1657",${body.slice(1)}`,
        reply: problem(400, 'Unknown type'),
      },
    ]);
    expect(JSON.parse(replies[0]?.body ?? '')).toMatchObject({ success: false, code: 'http_response_error' });
  });

  it('a hostile device id changes no path and no header of a call {S2.1}', async () => {
    const hostile = 'd1/../d2?x=1\r\nx-evil: 1';
    const encoded = encodeURIComponent(hostile);
    const sent = { properties: { ...properties, correlationId: 'a\r\nb: c' }, body: pumpBody, device: hostile };
    const headers = { 'x-svc-device-id': encoded, 'x-correlation-id': 'a%0D%0Ab%3A%20c' };
    const script: Script = [{ call: `GET /devices?device=${encoded}`, headers, reply: [200, { data: [] }] }];
    await dispatchEvent(hubEvent(sent), script);
  });
});

it('compression is undone before the body is read; unneeded reserved memory is released then', async () => {
  const body = gzipSync(JSON.stringify(pumpBody)).toString('base64');
  const event = hubEvent({ properties: { ...properties, 'content-encoding': 'gzip' }, body });
  const { replies, givenBack } = await dispatchEvent(event, success);
  const reserved = bytesToReserve(event, messageLimits.maxInflatedBytes);
  const needed = 4 * JSON.stringify(pumpBody).length;
  expect(givenBack).toEqual([reserved - bytesReceived(event) - needed]);
  expect(replies[0]?.properties['content-encoding']).toBe('gzip');
  const answer = gunzipSync(Buffer.from(replies[0]?.body ?? '', 'base64')).toString();
  expect(JSON.parse(answer)).toMatchObject({ success: true });
});

/** What comes of a message within its time-out of a second, in time that does not pass by itself. */
async function afterSecond<T>(dispatching: () => Promise<T>): Promise<T> {
  vi.useFakeTimers();
  const work = dispatching();
  await vi.advanceTimersByTimeAsync(1_000);
  return await work;
}

it('a backend that answers garbage is the service’s fault: the device gets an incident id that is in the log', async () => {
  const { replies, logged } = await dispatchEvent(event, failing);
  const { code, details } = JSON.parse(replies[0]?.body ?? '');
  expect(code).toBe('internal_platform_error');
  const incident = /[0-9a-f-]{36}/.exec(details)?.[0];
  expect(logged[0]).toMatchObject({ level: 'error', incident });
});

describe('a message that cannot be handled to its end', () => {
  it('is not counted as handled when the service stops before its replies are out', async () => {
    const { handled, logged } = await dispatchEvent(event, success, { deliver: () => 'stopped' });
    expect([handled, logged]).toEqual([false, []]);
  });

  it('makes no further call after its partition is lost, and is neither answered nor parked', async () => {
    const taken = new AbortController();
    const busy = { call: device.call, reply: problem(503, 'Busy'), onCall: () => taken.abort() };
    const expected = { handled: false, replies: [], parked: [], logged: [] };
    expect(await dispatchEvent(event, [busy], { ended: taken.signal })).toMatchObject(expected);
  });

  it.each(['all', 'none'])('is not parked when its deadline passes after its partition, ack %s', async (ack) => {
    const taken = new AbortController();
    const sent = hubEvent({ properties: { ...properties, timeout: 1, ack }, body: pumpBody });
    const script: Script = [{ call: device.call, reply: 'hang', onCall: () => taken.abort() }];
    const answering = () => dispatchEvent(sent, script, { ended: taken.signal });
    expect(await afterSecond(answering)).toMatchObject({ handled: false, replies: [], parked: [], logged: [] });
  });

  it.each([0, 1, 2, 3, 4, 5])('ends before its next call or reply when the process stood still: %i', async (most) => {
    const taken = new AbortController();
    let steps = 0;
    const { handled, replies, calls } = await dispatchEvent(event, notified.slice(0, most), {
      ended: taken.signal,
      beforeEffect() {
        if (steps === most) taken.abort();
        steps += 1;
      },
    });
    expect([handled, calls.length + replies.length, steps]).toEqual([false, most, most + 1]);
  });

  it('sends no further reply after its partition is lost', async () => {
    const taken = new AbortController();
    const { handled, replies } = await dispatchEvent(event, notified, {
      ended: taken.signal,
      deliver() {
        taken.abort();
        return 'delivered';
      },
    });
    expect([handled, replies.map(({ kind }) => kind)]).toEqual([false, ['notification']]);
  });
});

describe('a tap on a device', () => {
  type Leaving = { readonly script: Script; readonly deliver?: () => Delivery };

  it.each<[when: string, leaving: (take: () => void) => Leaving]>([
    ['during a call', (take) => ({ script: [{ ...device, onCall: take }] })],
    ['when our side has failed', (take) => ({ script: [{ call: device.call, reply: [200, '<html>'], onCall: take }] })],
    [
      'between its replies',
      (take) => ({
        script: notified,
        deliver() {
          take();
          return 'delivered';
        },
      }),
    ],
    ['while the hub has its reply', () => ({ script: success, deliver: () => 'stopped' })],
  ])('shows that a message is abandoned when its partition is lost %s, and nothing after that', async (_, leaving) => {
    const taken = new AbortController();
    const taps = createTaps();
    const told: TapEvent[] = [];
    taps.open({ device: 'd1', follow: (event) => told.push(event) });
    const { script, ...circumstances } = leaving(() => taken.abort());
    await dispatchEvent(event, script, { ...circumstances, ended: taken.signal, taps });
    expect(told.map(({ stage }) => stage)).not.toContain('handled');
    expect(told.at(-1)).toMatchObject({ stage: 'left', why: 'this instance no longer reads the partition' });
  });
});

describe('the memory of replies (D28)', () => {
  const read = JSON.stringify(pumpBody).length;

  it.each<[what: string, body: unknown, script: Script, bytes: number]>([
    ['an acknowledgement, which may repeat the body', pumpBody, success, 1_000 + read],
    ['a notification as well', pumpBody, notified, 1_000 + read + configuration.length],
    ['an acknowledgement of what is no JSON', '{', [], 1_000],
  ])('is charged once, with the message: %s', async (_, body, script, bytes) => {
    const received = hubEvent({ properties, body });
    const { answering } = await dispatchEvent(received, script);
    expect(answering).toEqual([bytesReceived(received) + bytes]);
  });
});

describe('the log', () => {
  it.each([
    ['ahead of', 5_000],
    ['behind', -5_000],
  ])('never has a negative time, even if the clock of the hub is %s the service’s', async (_, aheadMs) => {
    vi.useFakeTimers({ now: event.enqueuedTimeUtc.getTime() - aheadMs });
    const { logged, meter } = await dispatchEvent(event, success, { readAt: performance.now() });
    const hubWaitMs = Math.max(0, -aheadMs);
    expect(logged).toMatchObject([{ hubWaitMs, laneWaitMs: 0 }]);
    expect(sumsOf(meter, 'device_messaging.wait.duration')).toEqual({ hub: hubWaitMs / 1000, lane: 0 });
  });

  it('measures the wait behind other messages by the monotonic clock', async () => {
    vi.useFakeTimers({ now: 0 });
    const readAt = performance.now();
    await vi.advanceTimersByTimeAsync(2_000);
    vi.setSystemTime(-3_600_000);
    const { logged, meter } = await dispatchEvent(event, success, { readAt });
    expect(logged).toMatchObject([{ laneWaitMs: 2_000 }]);
    expect(sumsOf(meter, 'device_messaging.wait.duration')).toMatchObject({ lane: 2 });
  });

  it('holds no body, no key and no token, whatever happens', async () => {
    const secret = 's3cret-public-key';
    const body = { ...pumpBody, publicKey: secret };
    const errors = [{ code: '400', title: `Bearer ${bearerToken}`, detail: 'x', id: pumpId, meta: {} }];
    const { call } = device;
    const outcomes: Script[] = [
      ...[success, failsToTheEnd({ call }, secret), [{ call, reply: [200, secret] as const }]],
      [{ call, reply: [400, { errors }] }],
    ];
    for (const script of outcomes) {
      const { logText, replies } = await dispatchEvent(hubEvent({ properties, body }), script);
      expect(logText + JSON.stringify(replies)).not.toContain(secret);
      expect(logText + JSON.stringify(replies)).not.toContain(bearerToken);
    }
  });
});

describe('the trace of a message', () => {
  const trace = '0af7651916cd43dd8448eb211c80319c';
  it('is the device’s, in the log line, at the backend and in the dead letter; its sampling flag is not used', async () => {
    const sent = { ...properties, traceparent: `00-${trace}-b7ad6b7169203331-00` };
    const { logged, calls, parked } = await dispatchEvent(hubEvent({ properties: sent, body: pumpBody }), failing);
    expect(logged.at(-1)).toMatchObject({ msg: 'handled', traceId: trace });
    const ours = new RegExp(`^00-${trace}-(?!b7ad6b7169203331)[0-9a-f]{16}-01$`);
    expect(calls[0]?.headers['traceparent']).toMatch(ours);
    expect(parked[0]?.traceparent).toBe(calls[0]?.headers['traceparent']);
  });

  it.each([
    ['none', undefined],
    ['one with a parent of zeros', `00-${trace}-${'0'.repeat(16)}-01`],
    ['a number', 17],
  ])('is made from the event, the same for each delivery, when the device sent %s', async (_, traceparent) => {
    const event = hubEvent({ properties: { ...properties, traceparent }, body: pumpBody });
    const [first, second] = [await dispatchEvent(event, failing), await dispatchEvent(event, failing)];
    const { traceId } = first.logged.at(-1) ?? {};
    expect(traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(traceId).not.toBe(trace);
    expect(second.logged.at(-1)).toMatchObject({ traceId });
    expect(first.calls[0]?.headers['traceparent']).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
    const other = await dispatchEvent({ ...event, sequenceNumber: 8 }, failing);
    expect(other.logged.at(-1)?.['traceId']).not.toBe(traceId);
  });
});

describe('a message that fails through our side', () => {
  it('is parked with its bytes, its reason and the trace of its attempt, and is acknowledged with the name of the backend {S2.8}', async () => {
    const event = hubEvent({ properties: { ...properties, timeout: 1 }, body: pumpBody });
    const failed = vi.fn();
    const { parked, replies, handled, counters, logged } = await afterSecond(() =>
      dispatchEvent(event, [{ call: device.call, reply: 'hang' }], { context: { failed } }),
    );
    expect(failed).toHaveBeenCalledOnce();
    const details = expect.stringContaining('principal manager');
    expect(JSON.parse(replies[0]?.body ?? '')).toMatchObject({ success: false, code: 'timeout_exceeded', details });
    expect(parked).toEqual([
      {
        ...{ event, generation: 'V2', deviceId: 'd1', origin: { hub: 'hub', partition: '0' } },
        ...{ code: 'timeout_exceeded', details, parkedAt: now, attempts: 1 },
        traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/),
      },
    ]);
    expect([handled, replies.length, counters['parked'], logged.length]).toEqual([true, 1, 1, 1]);
  });

  const aDefect = () => {
    throw new TypeError('a defect');
  };
  const unparked = {
    ...{ level: 'error', msg: 'message could not be parked', device: 'd1', partition: '0', sequenceNumber: 7 },
    offset: '7000',
  };

  it('is not parked when its partition is lost before the answer: it may succeed elsewhere', async () => {
    const { handled, parked } = await dispatchEvent(event, failing, { deliver: () => 'stopped' });
    expect([handled, parked]).toEqual([false, []]);
  });

  it('is completed when the store of dead letters is back, and until then only its bytes are charged', async () => {
    vi.useFakeTimers();
    const out = new Error('503');
    const park = vi.fn<() => Promise<void>>().mockRejectedValueOnce(out).mockRejectedValueOnce(out);
    let result: Dispatched | undefined;
    void dispatchEvent(event, failing, { park }).then((dispatched) => (result = dispatched));
    await vi.advanceTimersByTimeAsync(1_499);
    expect([result, park.mock.calls.length]).toEqual([undefined, 2]);
    await vi.advanceTimersByTimeAsync(1);
    const bytes = bytesReceived(event);
    expect(result).toMatchObject({ handled: true, parking: [bytes, bytes], counters: { parked: 1, notParked: 0 } });
    expect([result?.replies.length, result?.logged.at(-1)]).toMatchObject([1, { code: 'internal_platform_error' }]);
  });

  it.each(['before its replies', 'after them'])(
    'is not completed when its partition ends before the store is back, failing %s',
    async (when) => {
      vi.useFakeTimers();
      const lost = new AbortController();
      const dispatching = dispatchEvent(event, when === 'before its replies' ? success : failing, {
        ended: lost.signal,
        park: () => Promise.reject(new Error('503')),
        ...(when === 'before its replies' && { deliver: aDefect }),
      });
      await vi.advanceTimersByTimeAsync(1_000);
      lost.abort();
      const { handled, counters, logged } = await dispatching;
      expect([handled, counters]).toMatchObject([false, { succeeded: 0, failed: 0, parked: 0, notParked: 0 }]);
      expect(logged.filter(({ msg }) => msg === 'handled')).toEqual([]);
    },
  );

  it('has a step during its parking, and none afterwards', async () => {
    const observation: { open?: ReadonlySet<object> } = {};
    const seen: object[] = [];
    await dispatchEvent(event, failing, {
      begins: ({ open }) => Object.assign(observation, { open }),
      park: async () => void seen.push(...(observation.open ?? [])),
    });
    const step = { kind: 'parking', what: 'internal_platform_error', of: 'store of dead letters', waitsFor: 'answer' };
    expect(seen).toMatchObject([step]);
    expect(observation.open?.size).toBe(0);
  });

  it('is answered and completed when a limit refuses its dead letter; the log has its position in the hub', async () => {
    const failed = vi.fn();
    const { handled, replies, counters, logged } = await dispatchEvent(event, failing, {
      park: () => Promise.reject(new LetterRefused('too many', 'delete some')),
      context: { failed },
    });
    expect([handled, replies.length, counters]).toMatchObject([true, 1, { failed: 1, parked: 0, notParked: 1 }]);
    expect(failed).toHaveBeenCalledOnce();
    expect(logged.slice(-2)).toMatchObject([{ ...unparked, err: { message: 'too many' } }, { msg: 'handled' }]);
  });

  it('leaves no dead letter when it is handled again and succeeds, or is the device’s failure; only for a possible repeat one is looked for', async () => {
    const again = await dispatchEvent(event, success, { redelivered: true });
    const parked = { event, deviceId: 'd1', origin: { hub: 'hub', partition: '0' } };
    expect([again.handled, again.removed]).toEqual([true, [idOf(parked)]]);
    expect((await dispatchEvent(event, success)).removed).toEqual([]);
    expect((await dispatchEvent(event, failing, { redelivered: true })).removed).toEqual([]);
    const refused = [{ ...device, reply: problem(403, 'No') }];
    expect((await dispatchEvent(event, refused, { redelivered: true })).removed).toEqual([idOf(parked)]);
  });

  it('is completed when its dead letter cannot be removed, within 3 s', async () => {
    vi.useFakeTimers();
    const dispatching = dispatchEvent(event, success, { redelivered: true, remove: () => new Promise(() => {}) });
    await vi.advanceTimersByTimeAsync(3_000);
    const { handled, logged } = await dispatching;
    expect(handled).toBe(true);
    expect(logged.at(-2)).toMatchObject({ level: 'warn', device: 'd1', partition: '0', sequenceNumber: 7 });
  });

  it('is acknowledged under another message id when it succeeds after all', async () => {
    const [failed, done] = [await dispatchEvent(event, failing), await dispatchEvent(event, success)];
    expect(failed.replies[0]?.messageId).not.toBe(done.replies[0]?.messageId);
  });
});

describe('a message that is no longer executed', () => {
  it('is answered with an incident that is also in the log, and parked, without its body being read or a backend called {S20.8}', async () => {
    const event = hubEvent({ properties, body: '{"model":' });
    const how = { parkUnexecuted: true, redelivered: true };
    const { handled, replies, parked, logged } = await dispatchEvent(event, [], how);
    const { details, ...answer } = JSON.parse(replies[0]?.body ?? '');
    const code = 'internal_platform_error';
    expect([handled, replies.length, answer]).toEqual([true, 1, { success: false, code, relatedModels: [] }]);
    const incident = /^the message is not executed again, incident ([\da-f-]{36})$/.exec(details)?.[1];
    expect(parked).toMatchObject([{ event, code, details, attempts: 1 }]);
    const line = { level: 'error', incident, device: 'd1', partition: '0', sequenceNumber: 7 };
    expect(logged).toContainEqual(expect.objectContaining(line));
  });

  it('is answered only if its device wants acknowledgements of failures', async () => {
    const event = hubEvent({ properties: { ...properties, ack: 'positive' }, body: pumpBody });
    const { replies, parked } = await dispatchEvent(event, [], { parkUnexecuted: true });
    expect([replies.length, parked.length]).toEqual([0, 1]);
  });
});
