import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { Parser } from '@asyncapi/parser';
import { describe, expect, it } from 'vitest';
import { stories } from '../../sandbox/stories/index.ts';
import { propertiesOf } from '../../sandbox/stories/wire.ts';
import { asyncApiDocument, requestHeaders } from '../../scripts/asyncapi.ts';
import { catalogue } from '../../src/messages/index.ts';
import { entriesFor, type Message } from '../support/asyncapi.ts';
import { breachesOfModule, modulesContractFile } from '../support/modulesContract.ts';
import { pumpId } from '../support/world.ts';

const warning = 1;

it('docs/contracts/asyncapi.yaml is a valid AsyncAPI document for the official parser', async () => {
  const { document, diagnostics } = await new Parser().parse(asyncApiDocument());
  expect(diagnostics.filter(({ severity }) => severity <= warning)).toEqual([]);
  expect(document?.version()).toBe('3.0.0');
  const operations = document?.operations().all() ?? [];
  const received = operations.filter((operation) => operation.isReceive()).map((operation) => operation.id());
  expect(received).toEqual(catalogue.map(({ name }) => name));
});

const json = (value: unknown) => JSON.stringify(value);
const packed = (value: unknown) => gzipSync(json(value)).toString('base64');

describe('A request complies with the entry of its action or event', () => {
  const entriesOf = (properties: object, body: string | Uint8Array) =>
    entriesFor({ direction: 'deviceToCloud', properties: { ...properties }, body });

  it.each(stories.filter(({ message }) => !message.startsWith('Svc.')))('$message', ({ message: name, example }) => {
    const properties = { ...propertiesOf(name, example), version: 2, ack: 'All', timeout: 5 };
    const body = JSON.parse(example.body);
    expect(entriesOf(properties, json(body))).toEqual([name]);
    expect(entriesOf({ ...properties, 'content-encoding': 'gzip' }, packed(body))).toEqual([name]);
    expect(entriesOf({ ...properties, 'content-encoding': 'GZIP' }, gzipSync(json(body)))).toEqual([name]);
    expect(entriesOf({ ...properties, version: 3 }, json(body))).toEqual([]);
    expect(entriesOf({ ...properties, target: 'a\u0000' }, json(body))).toEqual([]);
    expect(entriesOf({ ...properties, target: '../a//b/' }, json(body))).toEqual([name]);
    expect(entriesOf(properties, 'no json')).toEqual([]);
  });
  it.each([
    ['Svc.Device.Created', { owner: 'edge' }, { type: 'pump', parent: { objectId: pumpId, reference: 'parent' } }],
    ['Svc.Device.Updated', { objectId: pumpId }, { type: 'pump@1', version: 2 }],
    ['Svc.Device.SyncModel', { objectId: pumpId, model: 'm' }, { references: [null], hierarchical: null }],
  ])('%s', (eventType, more, body) => {
    const properties = { 'svc-messagetype': 'platformEvent', eventType, ...more };
    expect(entriesOf(properties, json(body))).toEqual([eventType]);
    expect(entriesOf({ ...properties, msgType: 'other' }, json(body))).toEqual([]);
    expect(entriesOf({ ...properties, ack: 'perhaps' }, json(body))).toEqual([]);
  });
});

it('Each property of an example is one that its request has', () => {
  for (const { message, example } of stories) {
    const card = catalogue.find(({ name }) => name === message);
    const known = Object.keys(card ? requestHeaders(card).shape : {});
    expect(known, message).toEqual(expect.arrayContaining(Object.keys(propertiesOf(message, example))));
  }
});

describe('A reply complies with one entry only', () => {
  const ack = { msgType: 'ack', version: '2', correlationId: 'c', timestamp: '2026-01-02T03:04:06.789Z' };
  const event = { 'svc-messagetype': 'platformEventAck', id: 'c' };
  const failed = { success: false, code: 'validation_error', details: 'property x is required' };
  const entriesOf = (properties: object, body: Message['body']) =>
    entriesFor({ direction: 'cloudToDevice', properties: { ...properties }, body });

  const replies = stories.flatMap(({ message, example }) =>
    example.replies.map(({ what, properties, body }): [string, object, unknown] => [
      what.startsWith('the acknowledgement') ? `${message}.success` : `${properties['eventType']}`,
      properties,
      body,
    ]),
  );
  it.each<[string, object, unknown]>([
    ...replies,
    ['model.create.failure', { ...ack, action: 'model.create' }, { ...failed, relatedModels: [] }],
    ['V2.failure', { ...ack, action: 'reference.create', target: '..' }, failed],
    [
      'identity.delete.failure',
      { ...ack, action: 'identity.delete' },
      { success: false, code: 'not_authorized', detail: 'no' },
    ],
    ['V2.failure', { ...ack, action: 'model.query' }, failed],
    ['V2.failure', ack, failed],
    [
      'Svc.Device.Created.failure',
      { ...event, eventType: 'Svc.Device.Created', model: 'm' },
      { ...failed, relatedModels: [] },
    ],
    ['Svc.Device.Updated.failure', { ...event, eventType: 'Svc.Device.Updated' }, failed],
    ['V1.failure', { ...event, eventType: 'Svc.Device.Deleted' }, failed],
  ])('%s', (name, properties, body) => {
    expect(entriesOf(properties, json(body))).toEqual([name]);
    expect(entriesOf({ ...properties, surplus: 'x' }, json(body))).toEqual([]);
    expect(entriesOf(properties, json({ ...Object(body), success: 'yes', objectId: 1 }))).toEqual([]);
  });
  it('compressed with the entry of its compressed form', () => {
    const properties = { ...ack, action: 'model.create', 'content-encoding': 'gzip' };
    expect(entriesOf(properties, packed({ ...failed, relatedModels: [] }))).toEqual([
      'model.create.failure, compressed',
    ]);
    expect(entriesOf(properties, packed(failed))).toEqual([]);
    expect(entriesOf(properties, json({ ...failed, relatedModels: [] }))).toEqual([]);
  });
  it('but a failure of Svc.Device.Created with the objectId with none', () => {
    const properties = { ...event, eventType: 'Svc.Device.Created', objectId: pumpId };
    expect(entriesOf(properties, json({ ...failed, relatedModels: [] }))).toEqual([]);
  });
});

describe('docs/contracts/modules.asyncapi.yaml', () => {
  const id = '1c7c5a0e-6a53-4d8c-9a1e-2f1c0f6a7b10';
  const objectId = '6b0e4d7c-5a33-4d8c-9a1e-2f1c0f6a7b10';

  it('is a valid AsyncAPI document for the official parser', async () => {
    const { document, diagnostics } = await new Parser().parse(readFileSync(modulesContractFile, 'utf8'));
    expect(diagnostics.filter(({ severity }) => severity <= warning)).toEqual([]);
    expect(
      document
        ?.channels()
        .all()
        .map((channel) => channel.address()),
    ).toEqual([
      '{topics_methods_in}/{method}/{requestId}',
      '{topics_methods_in}/$proxy/{requestId}',
      '{topics_methods_out}/{status}/{requestId}',
    ]);
  });
  it.each<['in' | 'out', string, string, number]>([
    ['in', `stop/${id}`, '', 0],
    ['in', `stop/${id}`, '{"a":1}', 0],
    ['in', `stop/${id}`, '[]', 1],
    ['in', `$proxy/${id}`, JSON.stringify({ objectId, method: 'a/b' }), 0],
    ['in', `$proxy/${id}`, '', 1],
    ['in', `$proxy/${id}`, JSON.stringify({ objectId, method: 'stop', inputs: {} }), 1],
    ['in', 'stop/1', '', 1],
    ['out', `200/${id}`, '{}', 0],
    ['out', `-1/${id}`, '', 0],
    ['out', `OK/${id}`, 'done', 2],
  ])('%s %s %s has %i breaches', (direction, topic, payload, count) =>
    expect(breachesOfModule(direction, topic, payload)).toHaveLength(count),
  );
});
