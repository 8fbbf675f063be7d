import { idempotencyKey } from '../../support/events.ts';
import { problem, pump, pumpAnswer, pumpId } from '../../support/world.ts';
import { forbidden, incident, type Row, unrelated } from '../table/row.ts';
import {
  body,
  get,
  misses,
  properties,
  put,
  type Replacement,
  replaceRow,
  sent,
  stored,
  updates,
  withVersion,
} from './replacement.ts';

export const replaceRows = (replacement: Replacement): Readonly<Record<string, readonly Row[]>> => ({
  update: updateRows(replacement),
  version: versionRows(replacement),
  ...raceRows(replacement),
  'refused by the information model': refusedRows(replacement),
  'lost answers': lostAnswerRows(replacement),
});

function updateRows({ done, refused, version }: Replacement): readonly Row[] {
  const passesOn = (it: string, body: object | string): Row => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return { it, properties, body: text, backend: [{ ...updates(4), body: text }], ...done() };
  };
  return [
    passesOn(
      `replaces properties and variables of an existing object model fully, and answers the version ${version} {S10.2 S10.5 S10.11 S16.3 S16.5 S16.8}`,
      body,
    ),
    passesOn(
      'passes the body on byte for byte: 64-bit integers, 1.0, 1e400, the order of keys, white space',
      '{ "version":4,"type":"pump@2.0.0", "properties":{"2":12345678901234567890,"1":1.0,"x":1e400,"ü":"\\u00fc"},"variables":{"a":1,"a":2}\n}',
    ),
    passesOn('passes on a type without a version as it is: the information model chooses', {
      type: 'pump',
      version: 4,
    }),
    passesOn('passes on a type with a major version as it is', { ...body, type: 'pump@2' }),
    passesOn('passes on a type with a version, which switches the type definition {S10.9}', {
      ...body,
      type: 'tank@2.0.0',
    }),
    {
      it: 'distinguishes models by letter case {S4.3 S16.2}',
      properties: { ...properties, model: 'SVC.Device' },
      body,
      backend: [{ call: `PUT /objects/${pumpId}/models/SVC.Device`, reply: problem(404, 'Not found') }],
      ...refused('HTTP 404: Not found', 4, 'SVC.Device'),
    },
    {
      it: 'sends no notification, not even of the svc.configuration model {S10.10 S16.7 S18.3}',
      properties: { ...properties, ack: undefined },
      body,
      backend: [{ ...updates(4), reply: [200, pumpAnswer({ version: 5, path: 'd1/edge' })] }],
      ack: undefined,
    },
    replaceRow('succeeds although a related model could not be created', sent, done(), [
      {
        ...updates(4),
        reply: [
          200,
          pumpAnswer({ version: 5, relatedModels: [unrelated('svc.history', 'validation_error', 'no serial')] }),
        ],
      },
    ]),
  ];
}

function refusedRows({ failed, refused }: Replacement): readonly Row[] {
  const cases = [
    ['a model that does not exist {S10.4 S16.5}', {}, 404, 'Not found'],
    ['a change of a unique property {S4.9 S10.8}', { properties: { serial: 'FP-2' } }, 400, 'Invalid modification'],
    ['a change of type that leaves the uniqueness group {S10.8}', { type: 'note@1.0.0' }, 400, 'Invalid modification'],
    ['a switch of type definition without a type version {S10.9}', { type: 'tank' }, 400, 'Invalid modification'],
  ] as const;
  return [
    ...cases.map(([what, given, status, title]) => ({
      it: `refuses ${what}`,
      properties,
      body: { ...body, ...given },
      backend: [{ call: put, body: JSON.stringify({ ...body, ...given }), reply: problem(status, title) }],
      ...refused(`HTTP ${status}: ${title}`),
    })),
    replaceRow('stops closing a gap at the first refusal', sent, refused('HTTP 400: Invalid modification'), [
      misses(4),
      stored(2),
      { call: put, reply: problem(400, 'Invalid modification') },
    ]),
    replaceRow(
      'treats an answer that is not an object model as the service’s failure',
      sent,
      failed('internal_platform_error', incident),
      [{ call: put, reply: [200, '<html>'] }],
    ),
  ];
}

function lostAnswerRows({ done, mismatched }: Replacement): readonly Row[] {
  const keyed = (answered: number) => ({ headers: { 'idempotency-key': idempotencyKey(put, answered) } });
  const lost = { ...updates(4), reply: 'lost' } as const;
  const own = { variables: { speed: 3 } };
  return [
    replaceRow('repeats an update whose answer was lost under the same idempotency key', sent, done(), [
      { ...lost, ...keyed(0) },
      { ...updates(4), ...keyed(0) },
    ]),
    replaceRow('reports success for its own update when the repeat meets the version it has written', sent, done(), [
      lost,
      misses(4),
      stored(5, own),
    ]),
    replaceRow('does not take another’s update for its own', sent, mismatched(5), [
      lost,
      misses(4),
      stored(5, { variables: { speed: 4 } }),
      stored(5),
    ]),
    replaceRow('does not take a version two higher for its own', sent, mismatched(6), [
      lost,
      misses(4),
      stored(6, own),
      stored(6, own),
    ]),
    replaceRow('continues closing a gap after a lost answer, with a separate key for each update', sent, done(), [
      { ...misses(4), ...keyed(0) },
      stored(2),
      { ...updates(2), ...keyed(1), reply: 'lost' },
      { ...misses(2), ...keyed(1) },
      stored(3, own),
      { ...updates(3), ...keyed(2) },
      { ...updates(4), ...keyed(3) },
    ]),
    replaceRow('repeats a call when the information model was too busy', sent, done(), [
      { ...updates(4), reply: problem(503, 'Unavailable') },
      { ...updates(4), reply: 'refused' },
      updates(4),
    ]),
  ];
}

const gapOf = (gap: number, version: number, most: number) =>
  `body.version is ${gap} ahead of the stored version ${version}; a gap of at most ${most} is closed`;

/** The version of the request against the one that is stored. */
function versionRows({ done, failed, mismatched, invalid, version }: Replacement): readonly Row[] {
  const scattered = (n: number) =>
    `{"type":"pump", "properties":{"version":9,"big":12345678901234567890}, "version" : ${n} ,"variables":{"x":1.0}}`;
  const large = '9007199254740993';
  return [
    replaceRow(
      'rejects a repeated update: it is behind the stored one {S10.7 S10.11 S16.6 S20.2}',
      sent,
      mismatched(5),
      [misses(4), stored(5)],
    ),
    replaceRow('returns the version that was read, not the older one of the error', sent, mismatched(7), [
      misses(4),
      stored(7),
    ]),
    replaceRow('rejects a request far behind {S16.3}', { ...sent, body: { ...body, version: 1 } }, mismatched(900, 1), [
      misses(1),
      stored(900),
    ]),
    replaceRow(
      `updates repeatedly when the stored version is one behind, until it is the request’s + 1${version === 'of the request' ? ', and answers the request’s' : ''} {S10.6 S16.3 S16.6}`,
      sent,
      done(),
      [misses(4), stored(3), updates(3), updates(4)],
    ),
    replaceRow('closes a gap of exactly 100', { ...sent, body: { ...body, version: 101 } }, done(102, 101), [
      misses(101),
      stored(1),
      ...Array.from({ length: 101 }, (_, n) => updates(n + 1)),
    ]),
    replaceRow(
      'refuses a gap of 101 without updating anything {S10.6 S16.6}',
      { ...sent, body: { ...body, version: 102 } },
      failed(invalid, gapOf(101, 1, 100), 102),
      [misses(102), stored(1)],
    ),
    replaceRow('uses the largest gap set', { ...sent, limits: { maxVersionGap: 1 } }, failed(invalid, gapOf(2, 2, 1)), [
      misses(4),
      stored(2),
    ]),
    replaceRow(
      'changes only the version while it closes a gap, at any position in the body {S10.6}',
      { ...sent, body: scattered(4) },
      done(),
      [
        { call: put, reply: problem(409, 'Version mismatch', { version: 3 }) },
        stored(3),
        { ...updates(3), body: scattered(3) },
        { ...updates(4), body: scattered(4) },
      ],
    ),
    {
      it: 'compares versions exactly, however large',
      ...sent,
      body: withVersion(large),
      backend: [
        { call: put, reply: problem(409, 'Version mismatch', {}) },
        { call: get, reply: [200, JSON.stringify(pump()).replace('"version":1', '"version":9007199254740994')] },
      ],
      ...mismatched('9007199254740994', Number(large)),
      ...(version === 'of the request' && { ackText: `"version":${large}}` }),
    },
    replaceRow('counts 4.0 as version 4', { ...sent, body: withVersion('4.0') }, done(), [
      { call: put, reply: problem(409, 'Version mismatch', {}) },
      stored(3),
      updates(3),
      updates(4),
    ]),
  ];
}

/** A refusal that does not say which version is stored. */
const silent = { ...updates(4), reply: problem(409, 'Version mismatch') };

/** Somebody else updates at the same time, or this very message has done so before. */
function raceRows({ done, failed, mismatched }: Replacement): Readonly<Record<string, readonly Row[]>> {
  return {
    'repeats after a crash': [
      replaceRow(
        'gets its earlier answers again in order when it had closed a gap',
        { ...sent, redelivered: true },
        done(),
        [
          misses(4),
          stored(5),
          { ...updates(4), reply: [200, pumpAnswer({ version: 4 })] },
          { ...updates(4), reply: [200, pumpAnswer({ version: 5 })] },
        ],
      ),
      replaceRow(
        'gets its earlier answers again with messages behind it done',
        { ...sent, redelivered: true },
        done(),
        [
          misses(4),
          stored(8),
          { ...updates(4), reply: [200, pumpAnswer({ version: 4 })] },
          { ...updates(4), reply: [200, pumpAnswer({ version: 5 })] },
        ],
      ),
      replaceRow(
        'repeats each update with the request, not the answered version',
        { ...sent, redelivered: true },
        done(),
        [
          misses(4),
          stored(5),
          { ...updates(4), reply: [200, pumpAnswer({ version: 3 })] },
          { ...updates(4), reply: [200, pumpAnswer({ version: 4 })] },
          { ...updates(4), reply: [200, pumpAnswer({ version: 5 })] },
        ],
      ),
      replaceRow('closes the gap when it had not begun before', { ...sent, redelivered: true }, done(), [
        misses(4),
        stored(3),
        updates(3),
        updates(4),
      ]),
      replaceRow(
        'is rejected when it is behind by the update of another',
        { ...sent, redelivered: true },
        mismatched(5),
        [misses(4), stored(5), misses(4), stored(5)],
      ),
    ],
    'two at the same time': [
      replaceRow('retries when the stored version has caught up', sent, done(), [misses(4), stored(4), updates(4)]),
      replaceRow('reads again when another updates while the gap is closed', sent, done(), [
        misses(4),
        stored(2),
        updates(2),
        misses(3),
        stored(4),
        updates(4),
      ]),
      replaceRow('is rejected when another overtakes it while the gap is closed', sent, mismatched(5), [
        misses(4),
        stored(2),
        updates(2),
        misses(3),
        stored(5),
      ]),
      replaceRow('gives up after losing too many races', sent, mismatched(5), [
        misses(4),
        ...Array.from({ length: 5 }, () => [stored(4), misses(4)]).flat(),
      ]),
      replaceRow('returns the last read version when the information model does not report one', sent, mismatched(4), [
        misses(4),
        ...Array.from({ length: 5 }, () => [stored(4), silent]).flat(),
      ]),
      replaceRow('is rejected when the model was deleted in between', sent, mismatched(5), [
        misses(4),
        { call: get, reply: problem(404, 'Not found') },
      ]),
      replaceRow('returns no unknown version', sent, mismatched(undefined), [
        silent,
        { call: get, reply: problem(404, 'Not found') },
      ]),
      replaceRow(
        'is not authorized when the model got another owner in between',
        sent,
        failed('not_authorized', forbidden('information model: read object model')),
        [misses(4), { call: get, reply: problem(403, 'Forbidden') }],
      ),
    ],
  };
}
