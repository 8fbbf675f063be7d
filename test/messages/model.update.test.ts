import { hostileModels, hostileObjectIds, modelFault, objectIdFault, shown } from '../support/hostileNames.ts';
import type { ScriptedReply } from '../support/scriptedBackend.ts';
import { otherPumpId, problem, pumpAnswer, pumpId } from '../support/world.ts';
import { body, path, properties, put, replacement, updates, withVersion } from './replace/replacement.ts';
import { replaceRows } from './replace/rows.ts';
import { messageTable } from './table/messageTable.ts';
import { incident, type Row } from './table/row.ts';

const v2 = replacement('V2');
const { done, failed, mismatched, refused } = v2;
const ok = { success: true, code: 'ok', details: '', objectId: pumpId, model: 'svc.device', version: 5 };
const failure = (code: string, details: unknown) => ({ success: false, code, details });

const puts = (it: string, body: unknown, reply: ScriptedReply, answer: Pick<Row, 'ack'>): Row => ({
  ...{ it, properties, body, backend: [{ call: put, body, reply }] },
  ...answer,
});
const rejects = (it: string, given: Partial<Row>, details: string): Row => ({
  it,
  body,
  ...given,
  ...failed('validation_error', details),
});

const sample = { properties, body, backend: [updates(4)], ack: ok, failed: failure };

messageTable('V2', 'model.update', sample, replaceRows(v2), {
  'ids in the header': [
    ...(
      [
        ['updates the model that the header names {S4.3 S10.2}', 'svc.configuration', 'svc.configuration'],
        ['percent-encodes a model id that is not ASCII', 'svc.gerät:1', 'svc.ger%C3%A4t%3A1'],
      ] as const
    ).map(([it, model, encoded]) => ({
      it,
      properties: { ...properties, model },
      body,
      backend: [{ call: put.replace('svc.device', encoded), reply: [200, pumpAnswer({ model, version: 5 })] } as const],
      ack: { ...ok, model },
    })),
    puts(
      'uses the ids in the header, not those in the body {S10.3}',
      { ...body, objectId: otherPumpId, model: 'svc.other' },
      [200, pumpAnswer({ version: 5 })],
      done(),
    ),
    {
      it: 'accepts an objectId in capital letters and repeats it as sent',
      properties: { objectId: pumpId.toUpperCase() },
      body,
      backend: [
        { call: `PUT ${path.replace(pumpId, pumpId.toUpperCase())}`, reply: [200, pumpAnswer({ version: 5 })] },
      ],
      ack: { ...ok, objectId: pumpId.toUpperCase() },
    },
    rejects('must name the object {S10.1}', {}, 'property objectId is required'),
    rejects(
      'must name it in the header: the body does not count {S10.1}',
      { body: { ...body, objectId: pumpId } },
      'property objectId is required',
    ),
    ...hostileObjectIds.map((objectId) =>
      rejects(
        `never puts an objectId that is not a GUID into a path: ${shown(objectId)}`,
        { properties: { objectId } },
        `property objectId ${objectIdFault}`,
      ),
    ),
    ...hostileModels.map((model) =>
      rejects(
        `never puts a model into a path that is not one path segment: ${shown(model)}`,
        { properties: { ...properties, model } },
        `property model ${modelFault}`,
      ),
    ),
    rejects(
      'lists all faults of the header at once',
      { properties: { objectId: 'a', model: '' } },
      `property objectId ${objectIdFault}; property model ${modelFault}`,
    ),
  ],

  'version, as of an action': [
    ...['9007199254740993', '12345678901234567890123'].map((version) => ({
      ...puts(
        `acknowledges the stored version ${version} digit for digit {S10.11}`,
        withVersion(version),
        [200, JSON.stringify(pumpAnswer()).replace('"version":1', `"version":${version}`)],
        done(Number(version)),
      ),
      ackText: `"version":${version}}`,
    })),
    puts(
      'is the service’s failure when the stored version is not an integer',
      body,
      [200, ` ${JSON.stringify(pumpAnswer({ version: 5.5 }))}`],
      failed('internal_platform_error', incident),
    ),
    puts(
      'passes a version that is not an integer to the information model, which refuses it',
      { ...body, version: '4' },
      problem(400, 'Validation failed'),
      refused('HTTP 400: Validation failed'),
    ),
    puts(
      'does not compare when the request has no version to compare',
      { type: 'pump' },
      problem(409, 'Version mismatch', { version: 1 }),
      mismatched(1),
    ),
    puts(
      'passes a body that is not an object to the information model unchanged {S10.3}',
      '[1]',
      problem(400, 'Validation failed'),
      refused('HTTP 400: Validation failed'),
    ),
    rejects('refuses a second version', { properties, body: '{"version":1,"version":2}' }, 'body.version occurs twice'),
  ],
});
