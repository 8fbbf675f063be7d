import { describe, expect, it } from 'vitest';
import { copiesOf, curlOfCall } from '../../page/src/flow/copies.ts';
import type { Entry } from '../../page/src/flow/entry.ts';
import { createFlows } from '../../page/src/flow/flows.ts';
import { lanesOf, stepsOf } from '../../page/src/flow/steps.ts';

const begun = Date.parse('2026-01-02T03:04:05.000Z');

/** Entries of a journal, each with its milliseconds after the first. */
const journal = (...all: readonly (readonly [atMs: number, entry: Partial<Entry> & { kind: string }])[]): Entry[] =>
  all.map(([atMs, entry], index) => ({
    position: index + 1,
    time: new Date(begun + atMs).toISOString(),
    deviceId: 'd1',
    correlationId: 'c1',
    ...entry,
  }));

const action = { msgType: 'action', action: 'model.create', version: '2' };
const properties = { ...action, correlationId: 'c1', ack: 'all', owner: "it's" };
const sent = { kind: 'd2c', properties, text: '{"name":"a","big":9007199254740993}', body: 'eA==' };
const [server, headers] = ['informationModel', { 'content-type': 'application/json' }];
const call = { kind: 'http-request', server, method: 'POST', path: '/object', headers, body: '{"a":1}' };
const reply = (request: number, status: number | null) => ({
  ...{ kind: 'http-response', server, request, status, body: '{"b":1e400}' },
});
const text = '{"success":true,"code":"ok"}';
const ack = { kind: 'c2d', properties: { msgType: 'ack' }, text, system: { messageId: 'm1' } };

const whole = journal(
  [0, sent],
  [10, { ...call, fault: 'fault-1' }],
  [20, reply(2, 503)],
  [620, call],
  [640, reply(4, 201)],
  [650, { kind: 'c2d', properties: { msgType: 'ack' }, refused: { condition: 'busy', description: 'too many' } }],
  [660, ack],
  [670, { kind: 'c2d-delivered', messageId: 'm1' }],
  [680, { kind: 'c2d-settled', messageId: 'm1', outcome: 'completed' }],
);

function flowsOf(entries: readonly Entry[]) {
  const flows = createFlows();
  for (const entry of entries) flows.add(entry);
  return flows;
}

describe('the flow of a message', () => {
  it('has its calls and replies, its result, and the time until the acknowledgement', () => {
    const [flow, ...others] = flowsOf(whole).list();
    expect(others).toEqual([]);
    const summary = { id: 1, what: 'message', device: 'd1', name: 'model.create' };
    expect(flow).toMatchObject({ ...summary, tookMs: 660, isStruck: true });
    expect(flow?.outcome).toEqual({ is: 'ok', text: 'ok' });
    expect(flow?.entries).toHaveLength(9);
  });
  it('is drawn with times, faults, attempts, waits and refusals', () => {
    const flows = flowsOf(whole);
    const steps = stepsOf(flows.list()[0] as never, []);
    expect(steps.map(({ from, to, label, is }) => `${from}>${to ?? ''} ${label} ${is}`)).toEqual([
      'device>hub model.create sent',
      'hub>service event sent',
      'service>informationModel POST /object sent',
      'informationModel> fault-1 strikes struck',
      'informationModel>service 503 after 10 ms failed',
      'service> nothing for 600 ms waited',
      'service>informationModel attempt 2: POST /object sent',
      'informationModel>service 201 after 20 ms answered',
      'service>hub ack refused: too many failed',
      'service>hub ack answered',
      'hub>device delivered answered',
      'device>hub completed answered',
    ]);
    expect(lanesOf(steps)).toEqual(['device', 'hub', 'service', 'informationModel']);
  });
  it('shows a call without an answer, and a connection that broke meanwhile', () => {
    const entries = journal(
      [0, sent],
      [10, call],
      [20, { kind: 'disconnected', correlationId: 'none', reason: 'reset', protocol: 'mqtt' }],
      [30, reply(2, null)],
    );
    const flows = flowsOf(entries);
    const steps = stepsOf(flows.list()[0] as never, flows.connections('d1'));
    expect(steps.filter(({ is }) => is === 'lost').map(({ label }) => label)).toEqual([
      'the connection ends: reset',
      'no answer after 20 ms',
    ]);
  });
  it('is another one for the same correlation id later on, and of another device', () => {
    const entries = journal(
      [0, sent],
      [10, ack],
      [20, sent],
      [25, { ...sent, deviceId: 'd2' }],
      [30, { ...ack, text: '{"success":false,"code":"conflict"}' }],
    );
    const flows = flowsOf(entries).list();
    expect(flows.map(({ device, outcome, tookMs }) => [device, outcome.text, tookMs])).toEqual([
      ['d1', 'ok', 10],
      ['d1', 'conflict', 10],
      ['d2', 'waits', undefined],
    ]);
  });
  it.each([
    [{ ack: 'none' }, 'no answer asked'],
    [{ ack: 'negative' }, 'answer if negative'],
    [{ msgType: 'other' }, ''],
  ])('with %o has no result to wait for', (changed, text) => {
    const [flow] = flowsOf(journal([0, { ...sent, properties: { ...properties, ...changed } }])).list();
    expect(flow?.outcome).toEqual({ is: 'none', text });
  });
  it('whose acknowledgement is compressed has no result that the page can read', () => {
    const compressed = { msgType: 'ack', 'content-encoding': 'gzip' };
    const [flow] = flowsOf(journal([0, sent], [10, { ...ack, properties: compressed, text: 'H4sI' }])).list();
    expect(flow).toMatchObject({ outcome: { is: 'none', text: 'answered, compressed' }, tookMs: 10 });
  });
  it('of an invocation begins with its first look-up, and has the status of the device', () => {
    const entries = journal(
      [0, { ...call, deviceId: '', method: 'GET' }],
      [5, { ...reply(1, 200), deviceId: '' }],
      [50, { kind: 'method', methodName: 'invokeMethod', payload: '{"method":"stop"}', status: 200 }],
    );
    expect(flowsOf(entries).list()).toMatchObject([
      { what: 'invocation', name: 'method stop', tookMs: 50, outcome: { is: 'ok', text: 'status 200' } },
    ]);
  });
  it('is forgotten when there are too many, the oldest first', () => {
    const flows = createFlows();
    for (let position = 1; position <= 30_000; position += 1)
      flows.add({ ...sent, position, time: new Date(begun).toISOString(), correlationId: `c${position}` });
    expect(flows.list().length).toBeLessThan(23_000);
    expect(flows.list().at(-1)?.id).toBe(30_000);
  });
});

describe('a flow is copied', () => {
  const [flow] = flowsOf(whole).list();
  const copies = Object.fromEntries(copiesOf(flow as never, 'http://127.0.0.1:1').map(({ as, text }) => [as, text]));

  it('as a command that sends it again, quoted for a shell', () => {
    expect(copies['npm run device']).toBe(
      `printf %s '{"name":"a","big":9007199254740993}' | npm run device -- --id d1 --prop 'owner=it'\\''s' model.create -`,
    );
    expect(copies['curl']).toContain('http://127.0.0.1:1/messages');
  });
  it('as a row of the table of its message', () => {
    expect(copies['test row']).toContain(`{ call: "POST /object", body: {"a":1}, reply: [503, {"b":1e400}] },`);
    expect(copies['test row']).toContain('ack: {"success":true,"code":"ok"},');
  });
  it('a call as curl, without a token', () => {
    const text = curlOfCall(whole[1] as Entry, { informationModel: 'http://127.0.0.1:2' });
    expect(text).toBe(
      `curl -X POST -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' --data-binary '{"a":1}' http://127.0.0.1:2/object`,
    );
  });
});
