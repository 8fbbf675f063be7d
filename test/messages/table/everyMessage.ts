import { deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import type { Generation } from '../../../src/protocol/event.ts';
import { hostileModels, hostileObjectIds, modelFault, objectIdFault, shown } from '../../support/hostileNames.ts';
import { failsToTheEnd } from '../../support/scriptedBackend.ts';
import { otherPumpId, problem, pumpId } from '../../support/world.ts';
import { acknowledgementRows } from './acknowledgement.ts';
import { propertyRows } from './properties.ts';
import type { Row } from './row.ts';
import { type Fields, type Sample, type Variations, variationsOf } from './sample.ts';

/** The rows that every table begins with: what the specification says of all messages of the generation. */
export function everyMessage(
  generation: Generation,
  name: string,
  sample: Sample,
): Readonly<Record<string, readonly Row[]>> {
  const of = variationsOf(generation, sample);
  return {
    [`acknowledgement, as of every ${of.kind}`]: acknowledgementRows(of, name),
    [`properties, as of every ${of.kind}`]: propertyRows(of, generation, name, sample),
    [`body, as of every ${of.kind}`]: [
      { ...of.malformed, it: 'must be well-formed JSON {S1.4 S1.5 S20.1}' },
      { ...of.failure({}, 'body is empty, expected JSON'), it: 'must not be empty {S1.4}', body: '' },
      {
        ...of.failure({}, 'body is not valid UTF-8'),
        it: 'must be UTF-8 {S1.4}',
        body: Buffer.from([0x22, 0xc3, 0x22]),
      },
      ...(generation === 'V2' ? bodiesOfActions(of) : bodiesOfEvents(of)),
    ],
    [`backends, as of every ${of.kind}`]: backendRows(of, sample),
    ...(generation === 'V1' && { 'subject, as of every event': subjectRows(of, sample) }),
  };
}

function bodiesOfActions({ success, failure, having }: Variations): readonly Row[] {
  const text = JSON.stringify(success.body);
  const forms = [
    ['base64 text of gzip data', 'gzip', gzipSync(text).toString('base64')],
    ['quoted base64 text of gzip data', 'GZIP', JSON.stringify(gzipSync(text).toString('base64'))],
    ['bare gzip data', 'gzip', gzipSync(text)],
  ] as const;
  return [
    ...forms.map(([form, encoding, body]) => ({
      ...having(success, { 'content-encoding': encoding }, { 'content-encoding': 'gzip' }),
      it: `may be ${form}; then the acknowledgement is compressed too {S13.13}`,
      body,
    })),
    {
      ...having(success, { 'content-encoding': 'deflate' }),
      it: 'may be base64 text of deflate data; the acknowledgement is not compressed',
      body: deflateSync(text).toString('base64'),
    },
    {
      ...failure(
        { 'content-encoding': 'gzip' },
        'body is neither gzip data nor base64 text of it',
        'decompression_error',
      ),
      it: 'must have the format of its content-encoding; the failure is not compressed',
    },
  ];
}

function bodiesOfEvents({ success, failure, having }: Variations): readonly Row[] {
  const text = JSON.stringify(success.body);
  return [
    {
      ...failure({}, 'body begins with a byte order mark'),
      it: 'must not begin with a byte order mark',
      body: `\ufeff${text}`,
    },
    {
      ...failure({}, 'body is nested more than 128 levels deep'),
      it: 'must not be nested more than 128 levels deep',
      body: `{"variables":${'['.repeat(128)}${']'.repeat(128)}}`,
    },
    ...['[]', '"text"', 'null', '7'].map((other) => ({
      ...failure({}, 'body must be a JSON object'),
      it: `must be an object: ${other}`,
      body: other,
    })),
    { ...having(success, { 'content-encoding': 'UTF-8' }), it: 'may have a content-encoding without compression' },
    ...['gzip', 'deflate', 'br'].map((encoding) => ({
      ...failure(
        { 'content-encoding': encoding },
        'property content-encoding must be one of utf8, utf-8, identity (in any case), empty or absent: the body of an event is never compressed',
      ),
      it: `must not be compressed: a content-encoding of ${encoding} is refused`,
    })),
    {
      ...failure({}, 'body is not valid UTF-8'),
      it: 'must not be compressed without a content-encoding either',
      body: gzipSync(text),
    },
  ];
}

function backendRows({ success, failure }: Variations, sample: Sample): readonly Row[] {
  const { decisive, failed, readBody, readProperties } = sample;
  const { backend } = success;
  const fails = (code: string, details: unknown) => ({
    ...failure({}, ''),
    ack: { ...failed(code, details), ...readBody },
    ...(readProperties && { ackProperties: readProperties }),
  });
  return (decisive ?? backend).flatMap((one) => {
    const before = backend.slice(0, backend.indexOf(one));
    return [
      {
        ...fails(
          'not_authorized',
          expect.stringMatching(/^[a-z ]+: [a-z ]+ failed with HTTP 403: Forbidden: as it is$/),
        ),
        it: `a device without the right gets not_authorized, and no further call is made: ${one.call}`,
        backend: [...before, { ...one, reply: problem(403, 'Forbidden') }],
      },
      {
        ...fails('internal_platform_error', expect.stringMatching(/^internal error, incident [0-9a-f-]{36}$/)),
        it: `a backend that fails at all attempts is reported as an incident id only: ${one.call}`,
        backend: [...before, ...failsToTheEnd(one, 'not for the device: http://backend.example')],
        log: { level: 'warn', code: 'internal_platform_error' },
      },
    ];
  });
}

/** Which object and model an event may be about; properties and body may name them. */
function subjectRows({ failure }: Variations, sample: Sample): readonly Row[] {
  const { failureProperties = {}, readProperties = failureProperties, readBody } = sample;
  const { model: _, ...withoutModel } = readProperties;
  const named = { objectId: pumpId, model: 'svc.device' };
  const refuses = (it: string, details: string, properties: Fields, ackProperties = failureProperties): Row => ({
    ...failure(properties, details),
    it,
    ackProperties,
  });
  const refusesBody = (it: string, details: string, properties: Fields, members: Fields, ack = readProperties) => {
    const row = failure(properties, details);
    return { ...row, it, body: { ...sample.body, ...members }, ack: { ...row.ack, ...readBody }, ackProperties: ack };
  };
  const models = 'property model and body.model must be the same';
  return [
    refusesBody(
      'refuses properties and body that name different objects {S15.2 S16.1}',
      'property objectId and body.objectId must be the same',
      named,
      { objectId: otherPumpId },
    ),
    refusesBody('refuses properties and body that name different models', models, named, { model: 'svc.history' }),
    refusesBody('refuses properties and body whose models differ in letter case', models, named, {
      model: 'Svc.Device',
    }),
    ...hostileObjectIds.flatMap((objectId) => [
      refuses(
        `never puts an objectId that is not a GUID into a path: ${shown(objectId)}`,
        `property objectId ${objectIdFault}`,
        { ...named, objectId },
        { model: 'svc.device' },
      ),
      refusesBody(
        `never puts an objectId of the body that is not a GUID into a path: ${shown(objectId)}`,
        `body.objectId ${objectIdFault}`,
        named,
        { objectId },
      ),
    ]),
    ...hostileModels.flatMap((model) => [
      refuses(
        `never puts a model into a path that is not one path segment: ${shown(model)}`,
        `property model ${modelFault}`,
        { ...named, model },
        withoutModel,
      ),
      refusesBody(
        `never puts a model of the body into a path that is not one path segment: ${shown(model)}`,
        `body.model ${modelFault}`,
        { ...named, model: undefined },
        { model },
        withoutModel,
      ),
    ]),
  ];
}
