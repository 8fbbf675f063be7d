import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { absent, Broken, expect, says } from '../expect.ts';
import { bigInteger, type Kit, modelAt } from '../kit.ts';
import { dead, must, type Rule, refused, should } from './rule.ts';

async function keepsText(kit: Kit, label: string): Promise<void> {
  const { at: place } = await kit.made({ label });
  expect(await kit.im('GET', place), 200, { 'properties.label': label });
}

/** Object models come back as they were sent. */
export const readRules: Rule[] = [
  must(
    'im.read',
    '`GET /objects/{objectId}/models/{model}` answers what the create answered, without `relatedModels`.',
    dead,
  )(async (kit) => {
    const { at: place, answer } = await kit.made({ label: 'read' });
    const found = expect(await kit.im('GET', place), 200, { relatedModels: absent });
    const { relatedModels: _, ...created } = Object(answer.json);
    if (!isDeepStrictEqual(found.json, created))
      throw new Broken('the object model that is read is not the one that was created', found);
  }),
  must(
    'im.read.unknown',
    'An unknown object, and an unknown model of a known object, is 404.',
    'What does not exist is taken for there, and never created.',
  )(async (kit) => {
    expect(await kit.im('GET', modelAt(randomUUID())), 404);
    const { objectId } = await kit.made();
    expect(await kit.im('GET', modelAt(objectId, `${kit.run}-model`)), 404);
  }),
  should(
    'im.read.case',
    'Object ids are equal whatever the case of their letters.',
    'Devices that write ids in capital letters do not find their objects.',
  )(async (kit) => {
    const { objectId } = await kit.made();
    expect(await kit.im('GET', modelAt(objectId.toUpperCase())), 200);
  }),
  should(
    'im.read.encoded',
    'Segments of a path are percent-decoded.',
    'Models with other characters than letters, digits and dots are not found.',
  )(async (kit) => {
    const { objectId } = await kit.made();
    expect(await kit.im('GET', `/objects/${objectId}/models/svc%2Edevice`), 200);
  }),

  must(
    'im.bytes.integer',
    'A 64-bit integer comes back with all its digits.',
    'Counters change by themselves; a lost answer is taken for a failure.',
  )(async (kit) => {
    const { at: place } = await kit.made(`{"serial":"${kit.fresh()}","plant":"a","count":${bigInteger}}`);
    says(expect(await kit.im('GET', place), 200), `"count":${bigInteger}`);
  }),
  should(
    'im.bytes.number',
    '`1.0` and `2.50` come back as they were sent.',
    'The guarantee that bytes are passed through ends at the backend.',
  )(async (kit) => {
    for (const ratio of ['1.0', '2.50']) {
      const { at: place } = await kit.made(`{"serial":"${kit.fresh()}","plant":"a","ratio":${ratio}}`);
      says(expect(await kit.im('GET', place), 200), `"ratio":${ratio}`);
    }
  }),
  should(
    'im.bytes.order',
    'The members of `properties` come back in the order in which they were sent.',
    'The guarantee that bytes are passed through ends at the backend.',
  )(async (kit) => {
    const sent = `{"ratio":0.5,"count":3,"plant":"a","label":"x","serial":"${kit.fresh()}"}`;
    const { at: place } = await kit.made(sent);
    says(expect(await kit.im('GET', place), 200), `"properties":${sent}`);
  }),
  must(
    'im.bytes.text',
    'Texts come back whole: quotes, backslashes, line ends, every plane of Unicode.',
    'What a device reads is not what a device wrote.',
  )((kit) => keepsText(kit, 'a"\\/\né\u2028😀')),
  should(
    'im.bytes.control',
    'Texts with control characters come back, `\\u0000` included.',
    refused,
  )((kit) => keepsText(kit, 'a\u0000b\u001f')),
  must(
    'im.bytes.variables',
    '`variables` are stored and returned as `properties` are.',
    'Variables of devices are lost.',
  )(async (kit) => {
    const { at: place, serial } = await kit.made({}, { variables: { reading: 2.5 } });
    says(expect(await kit.im('GET', place), 200), '"variables":{"reading":2.5}');
    const body = `{"type":"${kit.run}-machine","version":1,"properties":{"serial":"${serial}","plant":"${kit.run}"},"variables":{"total":${bigInteger}}}`;
    expect(await kit.im('PUT', place, { body }), 200);
    says(expect(await kit.im('GET', place), 200), `"variables":{"total":${bigInteger}}`);
  }),
  must(
    'im.bytes.large',
    'An object model of 250,000 bytes is stored and returned; a message has as many.',
    refused,
  )(async (kit) => {
    const label = 'x'.repeat(250_000);
    const { answer, at: place } = await kit.post({ label });
    expect(answer, 201);
    expect(await kit.im('GET', place), 200, { 'properties.label': label });
  }),
];
