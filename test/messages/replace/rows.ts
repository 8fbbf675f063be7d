import { idempotencyKey } from '../../support/events.ts';
import type { Script } from '../../support/scriptedBackend.ts';
import { problem, pump, pumpAnswer, pumpId } from '../../support/world.ts';
import { forbidden, incident, type Row, unrelated } from '../table/row.ts';
import {
  body,
  callsOf,
  get,
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
      ...callsOf('misses 4, reads 2'),
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
  const keyed = (text: string, ...answered: readonly number[]) =>
    callsOf(text).map((call, index) => {
      const key = answered[index] ?? -1;
      return key < 0 ? call : { ...call, headers: { 'idempotency-key': idempotencyKey(put, key) } };
    });
  const own = 'is unanswered 4, misses 4, reads own 5';
  const others = 'is unanswered 4, misses 4, reads other 5, reads 5';
  const beyond = 'is unanswered 4, misses 4, reads own 6, reads own 6';
  const repeated = keyed('is unanswered 4, updates 4', 0, 0);
  const closing = 'misses 4, reads 2, is unanswered 2, misses 2, reads own 3, updates 3, updates 4';
  const separate = keyed(closing, 0, -1, 1, 1, -1, 2, 3);
  return [
    replaceRow('repeats an update whose answer was lost under the same idempotency key', sent, done(), repeated),
    replaceRow('reports success for its own update when the repeat meets the version it wrote', sent, done(), own),
    replaceRow('does not take another’s update for its own', sent, mismatched(5), others),
    replaceRow('does not take a version two higher for its own', sent, mismatched(6), beyond),
    replaceRow('continues closing a gap after a lost answer, with a separate key for each', sent, done(), separate),
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
  const large = '9007199254740992';
  const sending = (number: number | string) => ({ ...sent, body: withVersion(number) });
  const behind = 'rejects a repeated update: it is behind the stored one {S10.7 S10.11 S16.6 S20.2}';
  const answers = version === 'of the request' ? ', and answers the request’s' : '';
  const closes = `updates repeatedly when the stored version is one behind, until it is the request’s + 1${answers} {S10.6 S16.3 S16.6}`;
  const refuses = 'refuses a gap of 101 without updating anything {S10.6 S16.6}';
  const refusal = failed(invalid, gapOf(101, 1, 100), 102);
  const hundred = ['misses 101', 'reads 1', ...Array.from({ length: 101 }, (_, n) => `updates ${n + 1}`)].join(', ');
  const limited = { ...sent, limits: { maxVersionGap: 1 } };
  const vague = { call: put, reply: problem(409, 'Version mismatch', {}) };
  return [
    replaceRow(behind, sent, mismatched(5), 'misses 4, reads 5'),
    replaceRow(
      'returns the version that was read, not the older of the error',
      sent,
      mismatched(7),
      'misses 4, reads 7',
    ),
    replaceRow('rejects a request far behind {S16.3}', sending(1), mismatched(900, 1), 'misses 1, reads 900'),
    replaceRow(closes, sent, done(), 'misses 4, reads 3, updates 3, updates 4'),
    replaceRow('closes a gap of exactly 100', sending(101), done(102, 101), hundred),
    replaceRow(refuses, sending(102), refusal, 'misses 102, reads 1'),
    replaceRow('uses the largest gap set', limited, failed(invalid, gapOf(2, 2, 1)), 'misses 4, reads 2'),
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
      ...{ it: 'compares versions exactly, however large', ...sending(large) },
      backend: [
        vague,
        { call: get, reply: [200, JSON.stringify(pump()).replace('"version":1', '"version":9007199254740993')] },
      ],
      ...mismatched('9007199254740993', Number(large)),
      ...(version === 'of the request' && { ackText: `"version":${large}` }),
    },
    replaceRow('counts 4.0 as version 4', sending('4.0'), done(), [vague, ...callsOf('reads 3, updates 3, updates 4')]),
  ];
}

/** Somebody else updates at the same time, or this very message has done so before. */
function raceRows({ done, failed, mismatched }: Replacement): Readonly<Record<string, readonly Row[]>> {
  const again = { ...sent, redelivered: true };
  const rejected = 'is rejected when it is behind by the update of another';
  const answered = (read: string, ...versions: readonly number[]): Script => [
    ...callsOf(read),
    ...versions.map((version) => ({ ...updates(4), reply: [200, pumpAnswer({ version })] as const })),
  ];
  const gone = { call: get, reply: problem(404, 'Not found') };
  const races = (miss: string) => ['misses 4', ...Array.from({ length: 5 }, () => `reads 4, ${miss} 4`)].join(', ');
  const overtaken = 'misses 4, reads 2, updates 2, misses 3, reads 4, updates 4';
  const outrun = 'misses 4, reads 2, updates 2, misses 3, reads 5';
  const [closed, behind] = [answered('misses 4, reads 5', 4, 5), answered('misses 4, reads 8', 4, 5)];
  const older = answered('misses 4, reads 5', 3, 4, 5);
  const hidden = failed('not_authorized', forbidden('information model: read object model'));
  return {
    'repeats after a crash': [
      replaceRow('gets its earlier answers again in order when it had closed a gap', again, done(), closed),
      replaceRow('gets its earlier answers again with messages behind it done', again, done(), behind),
      replaceRow('repeats each update with the request, not the answered version', again, done(), older),
      replaceRow('closes the gap when it had not begun', again, done(), 'misses 4, reads 3, updates 3, updates 4'),
      replaceRow(rejected, again, mismatched(5), 'misses 4, reads 5, misses 4, reads 5'),
    ],
    'two at the same time': [
      replaceRow('retries when the stored version has caught up', sent, done(), 'misses 4, reads 4, updates 4'),
      replaceRow('reads again when another updates while the gap is closed', sent, done(), overtaken),
      replaceRow('is rejected when another overtakes it while the gap is closed', sent, mismatched(5), outrun),
      replaceRow('gives up after losing too many races', sent, mismatched(5), races('misses')),
      replaceRow('returns the last read version when none is reported', sent, mismatched(4), races('misses silently')),
      replaceRow('is rejected when the model was deleted in between', sent, mismatched(5), [
        ...callsOf('misses 4'),
        gone,
      ]),
      replaceRow('returns no unknown version', sent, mismatched(undefined), [...callsOf('misses silently 4'), gone]),
      replaceRow('is not authorized when the model got another owner in between', sent, hidden, [
        ...callsOf('misses 4'),
        { call: get, reply: problem(403, 'Forbidden') },
      ]),
    ],
  };
}
