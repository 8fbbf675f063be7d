import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { Parser } from '@asyncapi/parser';
import { describe, expect, it } from 'vitest';
import { asyncApiDocument, asyncApiFile } from '../../scripts/asyncapi.ts';
import { catalogue } from '../../src/messages/index.ts';
import { entriesFor, type Message } from '../support/asyncapi.ts';

const warning = 1;

describe('docs/contracts/asyncapi.yaml', () => {
  it('is up to date: run `npm run docs`', () => {
    expect(readFileSync(asyncApiFile, 'utf8')).toBe(asyncApiDocument());
  });

  it('is a valid AsyncAPI document, says the official parser', async () => {
    const { document, diagnostics } = await new Parser().parse(asyncApiDocument());
    expect(diagnostics.filter(({ severity }) => severity <= warning)).toEqual([]);
    expect(document?.version()).toBe('3.0.0');
    const operations = document?.operations().all() ?? [];
    const received = operations.filter((operation) => operation.isReceive()).map((operation) => operation.id());
    expect(received).toEqual(catalogue.map(({ name }) => name));
  });
});

const A = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
const json = (value: unknown) => JSON.stringify(value);
const packed = (value: unknown) => gzipSync(json(value)).toString('base64');

const v2 = (action: string, more: object = {}) => ({
  msgType: 'action',
  action,
  version: 2,
  correlationId: 'c',
  ...more,
});
const pump = { model: 'svc.device', type: 'pump', properties: { serial: 'A' } };

describe('A request complies with the entry of its action or event', () => {
  const entriesOf = (properties: object, body: string | Uint8Array) =>
    entriesFor({ direction: 'deviceToCloud', properties: { ...properties }, body });

  it.each([
    ['model.create', v2('model.create'), pump],
    ['model.update', v2('model.update', { objectId: A }), { type: 'pump', version: 3 }],
    ['type.create', v2('type.create', { model: 'svc.device' }), { typeId: 'pump', version: '1.0.0' }],
    ['reference.create', v2('reference.create', { objectId: A }), [{ name: 'n', to: { objectId: A, model: 'm' } }]],
    ['identity.update', v2('identity.update', { parent: 'edge' }), { publicKey: 'k' }],
    ['identity.delete', v2('identity.delete', { ack: 'All', timeout: 5 }), { identity: 'sensor' }],
  ])('%s', (name, properties, body) => {
    expect(entriesOf(properties, json(body))).toEqual([name]);
    expect(entriesOf({ ...properties, 'content-encoding': 'gzip' }, packed(body))).toEqual([name]);
    expect(entriesOf({ ...properties, 'content-encoding': 'GZIP' }, gzipSync(json(body)))).toEqual([name]);
    expect(entriesOf({ ...properties, version: 3 }, json(body))).toEqual([]);
    expect(entriesOf({ ...properties, target: 'a\u0000' }, json(body))).toEqual([]);
    expect(entriesOf({ ...properties, target: '../a//b/' }, json(body))).toEqual([name]);
    expect(entriesOf(properties, 'no json')).toEqual([]);
  });

  it.each([
    ['Svc.Device.Created', { owner: 'edge' }, { type: 'pump', parent: { objectId: A, reference: 'parent' } }],
    ['Svc.Device.Updated', { objectId: A }, { type: 'pump@1', version: 2 }],
    ['Svc.Device.SyncModel', { objectId: A, model: 'm' }, { references: [null], hierarchical: null }],
  ])('%s', (eventType, more, body) => {
    const properties = { 'svc-messagetype': 'platformEvent', eventType, ...more };
    expect(entriesOf(properties, json(body))).toEqual([eventType]);
    expect(entriesOf({ ...properties, msgType: 'other' }, json(body))).toEqual([]);
    expect(entriesOf({ ...properties, ack: 'perhaps' }, json(body))).toEqual([]);
  });
});

describe('A reply complies with one entry only', () => {
  const ack = { msgType: 'ack', version: '2', correlationId: 'c', target: '', timestamp: '2026-01-02T03:04:06.789Z' };
  const event = { 'svc-messagetype': 'platformEventAck', id: 'c', target: '' };
  const ok = { success: true, code: 'ok', details: '' };
  const failed = { success: false, code: 'validation_error', details: 'property x is required' };
  const news = { 'svc-messagetype': 'platformEvent', id: 'c', objectId: A, model: 'svc.device', target: '' };
  const stored = { objectId: A, model: 'm', type: 'pump@1.0.0', properties: {}, variables: {}, version: 1 };
  const entriesOf = (properties: object, body: Message['body']) =>
    entriesFor({ direction: 'cloudToDevice', properties: { ...properties }, body });

  it.each<[string, object, object]>([
    ['model.create.success', { ...ack, action: 'model.create' }, { ...ok, objectId: A, relatedModels: [] }],
    ['model.create.failure', { ...ack, action: 'model.create' }, { ...failed, relatedModels: [] }],
    ['model.update.success', { ...ack, action: 'model.update' }, { ...ok, objectId: A, model: 'm', version: 2 }],
    ['reference.create.failure', { ...ack, action: 'reference.create', target: '..' }, failed],
    [
      'identity.update.success',
      { ...ack, action: 'identity.update', context: 'x' },
      { ...ok, parent: '', identity: '' },
    ],
    [
      'identity.delete.failure',
      { ...ack, action: 'identity.delete' },
      { success: false, code: 'not_authorized', detail: 'no' },
    ],
    ['V2.refusal', { ...ack, action: 'model.query' }, failed],
    ['V2.refusal', ack, failed],
    [
      'Svc.Device.Created.success',
      { ...event, eventType: 'Svc.Device.Created', objectId: A, model: 'm' },
      { ...ok, relatedModels: [] },
    ],
    [
      'Svc.Device.Created.failure',
      { ...event, eventType: 'Svc.Device.Created', model: 'm' },
      { ...failed, relatedModels: [] },
    ],
    ['Svc.Device.Updated.failure', { ...event, eventType: 'Svc.Device.Updated' }, failed],
    ['V1.refusal', { ...event, eventType: 'Svc.Device.Deleted' }, failed],
    [
      'Svc.InformationModel.ObjectModelUpdated',
      { ...news, eventType: 'Svc.InformationModel.ObjectModelUpdated' },
      stored,
    ],
  ])('%s', (name, properties, body) => {
    expect(entriesOf(properties, json(body))).toEqual([name]);
    expect(entriesOf({ ...properties, surplus: 'x' }, json(body))).toEqual([]);
    expect(entriesOf(properties, json({ ...body, success: 'yes', objectId: 1 }))).toEqual([]);
  });

  it('compressed with the entry of its compressed form', () => {
    const properties = { ...ack, action: 'model.create', 'content-encoding': 'gzip' };
    expect(entriesOf(properties, packed({ ...failed, relatedModels: [] }))).toEqual([
      'model.create.failure.compressed',
    ]);
    expect(entriesOf(properties, packed(failed))).toEqual([]);
    expect(entriesOf(properties, json({ ...failed, relatedModels: [] }))).toEqual([]);
  });

  it('and with none when the objectId stands in a failure of Svc.Device.Created', () => {
    const properties = { ...event, eventType: 'Svc.Device.Created', objectId: A };
    expect(entriesOf(properties, json({ ...failed, relatedModels: [] }))).toEqual([]);
  });
});
