import { deflateSync, gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { effort } from '../src/protocol/jsonReader.ts';
import { Rejection } from '../src/protocol/rejection.ts';
import { messageLimits } from '../src/settings/constants.ts';
import { finds } from './costSearch/finds.ts';
import { createCosts } from './costSearch/measure.ts';
import { eventOf } from './costSearch/recipe.ts';
import { dispatchEvent } from './support/dispatching.ts';
import { hubEvent, requestProperties } from './support/events.ts';
import type { Script } from './support/scriptedBackend.ts';
import { device, problem, pump, pumpId, pumpType } from './support/world.ts';

/** What hostile messages cost, in steps: characters that were looked at and values that were met (R6). */

const { maxInflatedBytes } = messageLimits;

/** A text of at most so many characters, filled with repetitions of its middle. */
function filled(begin: string, unit: string, end: string, length = maxInflatedBytes): string {
  return begin + unit.repeat(Math.floor((length - begin.length - end.length) / unit.length)) + end;
}

async function costOf(
  name: string,
  body: string | Uint8Array,
  { backend = [], properties = {} }: { backend?: Script; properties?: Readonly<Record<string, unknown>> } = {},
) {
  const generation = name.startsWith('Svc.') ? 'V1' : 'V2';
  const event = hubEvent({ properties: { ...requestProperties[generation](name), ...properties }, body });
  const before = { ...effort };
  const { replies, logText } = await dispatchEvent(event, backend);
  const { properties: answered = {}, body: answer = '{}' } = replies.at(-1) ?? {};
  const last = answered['content-encoding'] === 'gzip' ? gunzipSync(Buffer.from(answer, 'base64')).toString() : answer;
  return {
    characters: effort.characters - before.characters,
    values: effort.values - before.values,
    details: String(JSON.parse(last).details),
    logged: logText.length,
  };
}

const gzipped = { 'content-encoding': 'gzip' };

it.each([
  ['open arrays', filled('', '[', ''), 'body is nested more than 128 levels deep'],
  ['blanks', filled('', ' ', ''), 'body is not well-formed JSON, it ends too early'],
  ['one string', filled('"', 'x', ''), 'body is not well-formed JSON, it ends too early'],
  ['escapes', filled('"', '\\u0041', ''), 'body is not well-formed JSON, it ends too early'],
  ['one number', filled('[1e', '9', ''), 'body is not well-formed JSON, it ends too early'],
  ['one key', filled('{"', 'x', '":'), 'body is not well-formed JSON, it ends too early'],
])(
  'a bomb that inflates to the limit of %s is read once, up to the point where it breaks a rule',
  async (_what, text, details) => {
    const cost = await costOf('model.create', gzipSync(text), { properties: gzipped });
    expect(cost.details).toBe(details);
    expect(cost.characters).toBeLessThanOrEqual(text.length);
    expect(cost.values).toBeLessThanOrEqual(text.length / 2 + 1);
    expect(cost.logged).toBeLessThan(500);
  },
);

it.each([
  ['objects', filled('{"a":[{}', ',{}', ']}')],
  ['numbers', filled('[1', ',1', ']')],
  ['empty keys', filled('{"":1', ',"":1', '}')],
  ['empty keys further down', filled('{"a":{"":1', ',"":1', '}}')],
])('few bytes may become 16,384 values of %s, and one for each byte', async (_what, text) => {
  const body = gzipSync(text);
  const { details, values } = await costOf('model.create', body, { properties: gzipped });
  const most = 16_384 + body.byteLength;
  expect([details, values]).toEqual([`body has more than ${most} values`, most + 1]);
});

describe('keys that occur twice', () => {
  it('cost a message without an objectId no more than a second pass over its properties', async () => {
    const text = filled(
      '{"model":"svc.device","type":"pump","properties":{"serial":"1"',
      ',"":1',
      '},"x":{"":{}}}',
      80_000,
    );
    const cost = await costOf('model.create', gzipSync(text), {
      properties: gzipped,
      backend: [
        device,
        pumpType,
        { call: 'POST /query', reply: [200, { data: [] }] },
        { call: 'POST /object?owner=11111111-1111-4111-8111-111111111111', reply: problem(400, 'Validation failed') },
      ],
    });
    expect(cost.details).toContain('HTTP 400');
    expect(cost.characters).toBeLessThan(2.1 * text.length);
  });

  it('are found behind a key of any length', async () => {
    const text = `{"${'k'.repeat(100_000)}":1,"version":1,"version":1}`;
    const cost = await costOf('Svc.Device.Updated', text, { properties: { objectId: pumpId } });
    expect(cost.details).toBe('body.version occurs twice; body.type is required');
    expect(cost.characters).toBe(text.length);
  });

  it('are reported once, however often they occur', async () => {
    const text = filled('{"version":1', ',"version":1', '}', 49_000);
    const cost = await costOf('Svc.Device.Updated', text, { properties: { objectId: pumpId } });
    expect(cost).toMatchObject({ details: 'body.version occurs twice; body.type is required' });
    expect(cost.logged).toBeLessThan(500);
    expect(cost.characters).toBe(text.length);
  });
});

describe('a list that is not a list of names', () => {
  it('is refused without a check of its values when it has more than 1,000', async () => {
    const cost = await costOf('Svc.Device.SyncModel', filled('{"references":[1', ',1', ']}', 60_000));
    expect(cost.details).toBe(
      'body.references has more than 1000 values; objectId and model must be given, as property or in the body',
    );
    expect(cost.logged).toBeLessThan(500);
  });

  it('is reported in ten faults at most', async () => {
    const cost = await costOf('Svc.Device.SyncModel', `{"references":[${'1,'.repeat(499)}1]}`);
    expect(cost.details).toMatch(
      /^body\.references\[0\] must be text; .*; body\.references\[9\] must be text; … and 491 more$/,
    );
    expect(cost.logged).toBeLessThan(1_000);
  });

  it('is reported in 1,000 characters at most', async () => {
    const name = 'x'.repeat(1_000);
    const cost = await costOf('model.update', '{"version":1}', {
      properties: { objectId: pumpId },
      backend: [
        {
          call: `PUT /objects/${pumpId}/models/svc.device`,
          reply: [400, { errors: [{ code: '400', title: name, detail: name, id: pumpId, meta: {} }] }],
        },
      ],
    });
    expect(cost.details.length).toBeLessThanOrEqual(1_000);
    expect(new Rejection('validation_error', 'x'.repeat(5_000)).details).toBe(`${'x'.repeat(999)}…`);
  });
});

it('names of references are compared once for each stored reference', async () => {
  const names = Array.from({ length: 900 }, (_, index) => `n${index}`);
  const stored = Array.from({ length: 4_000 }, () => ({
    name: 'another',
    to: { objectId: pumpId, model: 'svc.device' },
    attributes: {},
  }));
  const answer = JSON.stringify({ data: stored });
  const model = JSON.stringify(pump());
  const body = JSON.stringify({ objectId: pumpId, model: 'svc.device', references: names });
  const cost = await costOf('Svc.Device.SyncModel', body, {
    backend: [
      { call: `GET /objects/${pumpId}/models/svc.device`, reply: [200, model] },
      { call: `GET /objects/${pumpId}/models/svc.device/references/out`, reply: [200, answer] },
    ],
  });
  expect(cost.characters).toBeLessThan(body.length + model.length + 4 * answer.length);
});

it('deflate has the same bound', async () => {
  const cost = await costOf('model.create', deflateSync(filled('{"a":[{}', ',{}', ']}')).toString('base64'), {
    properties: { 'content-encoding': 'deflate' },
  });
  expect(cost.details).toMatch(/^body has more than 1[67]\d{3} values$/);
});

it.each(Object.entries(finds))(
  'the findings of the cost search stay within their bound of steps: %s',
  async (_what, recipe) => {
    const event = eventOf(recipe);
    if (event === undefined) throw new Error('no hub would take this message');
    const costs = createCosts();
    const excess = await costs.excessOf(recipe, event);
    await costs.close();
    expect(excess).toEqual([]);
  },
);

it('the log names the first ten of any number of missing models, and counts the rest', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `svc.m${index}`);
  const { logged } = await dispatchEvent(
    hubEvent({
      properties: requestProperties.V1('Svc.Device.SyncModel'),
      body: { objectId: pumpId, model: 'svc.device', related: names },
    }),
    [
      { call: `GET /objects/${pumpId}/models/svc.device`, reply: [200, pump()] },
      {
        together: names.map((name) => ({
          call: `GET /objects/${pumpId}/models/${name}`,
          reply: problem(404, 'Not found'),
        })),
      },
    ],
  );
  const { remarks } = logged.at(-1) as { remarks: string[] };
  expect([remarks.length, remarks.at(-1)]).toEqual([11, '… and 30 more']);
});
