import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { CardLimits } from '../../src/card/card.ts';
import type { Delivery } from '../../src/hub/replies/sender.ts';
import { findCard } from '../../src/messages/index.ts';
import type { Generation } from '../../src/protocol/event.ts';
import { backendOf, dispatchEvent, now } from './dispatching.ts';
import { hubEvent } from './events.ts';
import type { Script } from './scriptedBackend.ts';

/** One message, what the backends are asked, and everything the devices get. */
export interface Row {
  /** A sentence of the specification. */
  readonly it: string;
  /** Properties beside or instead of those of every message; undefined takes one away. */
  readonly properties?: Readonly<Record<string, unknown>>;
  /** Text and bytes go out as they are, anything else as JSON. */
  readonly body?: unknown;
  /** The device that sends; `d1` unless told otherwise. */
  readonly device?: string;
  /** Exactly these calls, in this order. */
  readonly backend?: Script;
  /** What becomes of each reply, in order; of those not named, the hub refuses only what is too large. */
  readonly delivery?: readonly Delivery[];
  /** The message comes from a time when another instance may have handled it. */
  readonly redelivered?: boolean;
  /** Instead of the settings' defaults. */
  readonly limits?: Partial<CardLimits>;
  /** Body of the acknowledgement, decompressed if it says that it is `gzip`; undefined when there must be none. */
  readonly ack: Readonly<Record<string, unknown>> | undefined;
  /** Text that the acknowledgement's body has, character by character. */
  readonly ackText?: string;
  /** Properties of the acknowledgement beside or instead of those of every acknowledgement. */
  readonly ackProperties?: Readonly<Record<string, unknown>>;
  /** Before the acknowledgement, in this order. Text is compared character by character. */
  readonly notifications?: readonly { device?: string; properties: Readonly<Record<string, string>>; body: unknown }[];
  /** What the log line of the message says, among other things. */
  readonly log?: Readonly<Record<string, unknown>>;
}

/** What every request of the tables has. */
export const requestProperties = {
  V2: (name: string) => ({
    msgType: 'action',
    action: name,
    version: 2,
    correlationId: 'c-1',
    ack: 'all',
    target: 'edge',
  }),
  V1: (name: string) => ({
    'svc-messagetype': 'platformEvent',
    eventType: name,
    id: 'c-1',
    ack: 'all',
    target: 'edge',
  }),
};

const acknowledgementProperties = {
  V2: (name: string) => ({
    msgType: 'ack',
    action: name,
    version: '2',
    correlationId: 'c-1',
    target: 'edge',
    timestamp: now.toISOString(),
  }),
  V1: (name: string) => ({ 'svc-messagetype': 'platformEventAck', eventType: name, id: 'c-1', target: 'edge' }),
};

/** Runs the rows of one message's table through the whole service but hub and backends; equality is exact. */
export function messageTable(
  generation: Generation,
  name: string,
  groups: Readonly<Record<string, readonly Row[]>>,
): void {
  describe(name, () => {
    it('has a card', () => expect(findCard(generation, name)?.name).toBe(name));
    it('needs the backends that it calls, and no others', () => {
      const steps = Object.values(groups).flatMap((rows) => rows.flatMap(({ backend = [] }) => backend));
      const calls = steps.flatMap((step) => ('together' in step ? step.together : [step]));
      const called = new Set(calls.map(({ call }) => backendOf(call.split(' ')[1] ?? '')));
      expect(called).toEqual(new Set(findCard(generation, name)?.needs));
    });
    for (const [group, rows] of Object.entries(groups)) {
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
    properties: { 'svc-messagetype': 'platformEvent', id: 'c-1', ...properties },
    body,
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
  expect(received).toEqual(acknowledgement ? [...expected, acknowledgement] : expected);
  const last = replies.at(-1);
  if (row.ackText) expect(last && decompressed(last.properties, last.body)).toContain(row.ackText);
  if (row.log) expect(logged.at(-1)).toMatchObject({ msg: 'handled', ...row.log });
}

/** C3: base64 text of the compressed body, without quotes. */
const decompressed = (properties: Readonly<Record<string, string>>, body: string): string =>
  properties['content-encoding'] === 'gzip' ? gunzipSync(Buffer.from(body, 'base64')).toString() : body;

const present = (bag: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(bag).filter(([, value]) => value !== undefined));
