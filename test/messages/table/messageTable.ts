import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { findCard } from '../../../src/messages/index.ts';
import type { Generation } from '../../../src/protocol/event.ts';
import { maxReplyBytes } from '../../../src/protocol/reply.ts';
import { backendOf, dispatchEvent } from '../../support/dispatching.ts';
import { hubEvent, requestProperties } from '../../support/events.ts';
import { now } from '../../support/wiring.ts';
import { everyMessage } from './everyMessage.ts';
import type { Row } from './row.ts';
import type { Sample } from './sample.ts';

const acknowledgementProperties = {
  V2: (name: string) => ({
    ...{ msgType: 'ack', action: name, version: '2', correlationId: 'c-1', target: 'edge' },
    timestamp: now.toISOString(),
  }),
  V1: (name: string) => ({ 'svc-messagetype': 'platformEventAck', eventType: name, id: 'c-1', target: 'edge' }),
};

/**
 * Runs the rows of one message's table through the whole service but hub and backends, those of every message first;
 * equality is exact.
 */
export function messageTable(
  generation: Generation,
  name: string,
  sample: Sample,
  ...groups: readonly Readonly<Record<string, readonly Row[]>>[]
): void {
  const all = [everyMessage(generation, name, sample), ...groups].flatMap((one) => Object.entries(one));
  describe(name, () => {
    it('has a card', () => expect(findCard(generation, name)?.name).toBe(name));
    it('requires exactly the backends that it calls', () => {
      const steps = all.flatMap(([, rows]) => rows.flatMap(({ backend = [] }) => backend));
      const calls = steps.flatMap((step) => ('together' in step ? step.together : [step]));
      const called = new Set(calls.map(({ call }) => backendOf(call.split(' ')[1] ?? '')));
      expect(called).toEqual(new Set(findCard(generation, name)?.needs));
    });
    for (const [group, rows] of all) {
      describe(group, () => {
        for (const row of rows) it(row.it, () => check(generation, name, row));
      });
    }
  });
}

async function check(generation: Generation, name: string, row: Row) {
  const { device = 'd1', body, backend = [], delivery = [], limits, redelivered } = row;
  const properties = present({ ...requestProperties[generation](name), ...row.properties });
  const outcomes = [...delivery];
  const { replies, handled, logged } = await dispatchEvent(hubEvent({ properties, body, device }), backend, {
    deliver: () => outcomes.shift(),
    limits,
    redelivered,
  });
  expect(handled).toBe(true);

  const expected = (row.notifications ?? []).map(({ device: to = device, properties, body }) => ({
    kind: 'notification',
    deviceId: to,
    properties: present({ 'svc-messagetype': 'platformEvent', id: 'c-1', ...properties }),
    body: kept(body),
  }));
  const received = replies.map(({ kind, deviceId, properties, body }, index) => ({
    kind,
    deviceId,
    properties,
    body: typeof expected[index]?.body === 'string' ? body : JSON.parse(decompressed(properties, body)),
  }));
  const acknowledgement = row.ack && {
    kind: 'acknowledgement',
    deviceId: device,
    properties: present({ ...acknowledgementProperties[generation](name), ...row.ackProperties }),
    body: row.ack,
  };
  expect(received).toStrictEqual(acknowledgement ? [...expected, acknowledgement] : expected);
  const last = replies.at(-1);
  if (row.ackText) expect(last && decompressed(last.properties, last.body)).toContain(row.ackText);
  if (row.log) expect(logged.at(-1)).toMatchObject({ msg: 'handled', ...row.log });
  expect(logged.at(-1)?.remarks).toEqual(row.log?.['remarks']);
}

/** Of what does not fit the hub, only the beginning is there. */
function kept(body: unknown): unknown {
  const text = JSON.stringify(body);
  return text.length > maxReplyBytes ? text.slice(0, maxReplyBytes + 1) : body;
}

/** C3: base64 text of the compressed body, without quotes. */
const decompressed = (properties: Readonly<Record<string, string>>, body: string): string =>
  properties['content-encoding'] === 'gzip' ? gunzipSync(Buffer.from(body, 'base64')).toString() : body;

const present = (bag: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(bag).filter(([, value]) => value !== undefined));
