import { expect } from 'vitest';
import { failsToTheEnd } from '../../support/scriptedBackend.ts';
import { device, problem, pump, pumpAnswer, unownedPump } from '../../support/world.ts';
import { type Row, related, toldOf } from '../table/row.ts';
import { createdRows, updatedRows } from './created.ts';
import { lostAnswerRows, raceRows, repeatedRows } from './races.ts';
import { refusedRows } from './refused.ts';
import {
  absent,
  configurationNews,
  deviceRow,
  news,
  type Registration,
  readConfiguration,
  stored,
} from './registration.ts';

export const createOrUpdateRows = (registration: Registration): Readonly<Record<string, readonly Row[]>> => ({
  created: createdRows(registration),
  updated: updatedRows(registration),
  refused: refusedRows(registration),
  'repeats after a crash': repeatedRows(registration),
  'two at the same time': raceRows(registration),
  'lost answers': lostAnswerRows(registration),
  'notifications of svc.configuration': configurationRows(registration),
  'the receiver of svc.configuration': receiverRows(registration),
});

/** Whose path decides where the configuration goes: its own, or else that of the svc.device model (A11). */
function receiverRows({ named, created }: Registration): readonly Row[] {
  const { sent, creates } = named();
  const owned = (path: string | undefined) => (path === undefined ? unownedPump() : pump({ path }));
  const receives = (
    it: string,
    paths: Readonly<Record<'device' | 'own', string | undefined>>,
    to?: [string, string?],
  ) => {
    const about = owned(paths.device);
    const configuration = { ...owned(paths.own), model: 'svc.configuration' };
    const [receiver = '', target] = to ?? [];
    return deviceRow(
      it,
      sent,
      created(about, to && { configuration: { device: receiver, ...news('Updated', configuration, { target }) } }),
      [
        absent,
        { ...creates, reply: [201, { ...about, relatedModels: [] }] },
        { call: readConfiguration, reply: [200, configuration] },
      ],
    );
  };
  return [
    receives('is the owner of svc.configuration {S18.4}', { device: 'd1', own: 'd2/edge/s' }, ['d2', 'edge/s']),
    receives('is that owner also when the svc.device model has no owner', { device: undefined, own: 'd2' }, ['d2']),
    ...[undefined, ''].map((own) =>
      receives(
        `is the owner of the svc.device model when the other path is ${own === undefined ? 'missing' : 'empty'}`,
        { device: 'd1/edge', own },
        ['d1', 'edge'],
      ),
    ),
    receives('is absent when neither model has an owner {S18.4}', { device: undefined, own: undefined }),
    receives('is absent when both paths are empty', { device: '', own: '' }),
    receives('is absent when the decisive path names no device', { device: 'd1', own: '/edge' }),
  ];
}

function configurationRows({ named, created, updated }: Registration): readonly Row[] {
  const { sent, creates, updates } = named();
  const reads = { call: readConfiguration, reply: [200, pump({ model: 'svc.configuration' })] } as const;
  const relatedModels = [related('svc.configuration')];
  const failing = related('svc.configuration', { success: false, code: 'validation_error', details: 'no serial' });
  const further = { relatedModels, configuration: configurationNews('Created') };
  return [
    deviceRow(
      'sends ObjectModelCreated when this request created the other model {S18.6}',
      sent,
      created(pump(), further),
      [absent, { ...creates, reply: [201, pumpAnswer({ relatedModels })] }, reads],
    ),
    deviceRow(
      'sends ObjectModelCreated when an update created it {S18.6}',
      sent,
      updated(pump({ version: 2 }), further),
      [stored(), { ...updates(1), reply: [200, pumpAnswer({ version: 2, relatedModels })] }, reads],
    ),
    deviceRow(
      'sends ObjectModelUpdated when the answer reports the svc.configuration model as created although that failed',
      sent,
      created(pump(), { relatedModels: [failing], configuration: configurationNews('Updated') }),
      [absent, { ...creates, reply: [201, pumpAnswer({ relatedModels: [failing] })] }, reads],
    ),
    deviceRow(
      'sends ObjectModelUpdated when the answer does not report the svc.configuration model as created, which violates the contract',
      sent,
      created(pump(), { relatedModels, configuration: configurationNews('Updated') }),
      [
        absent,
        { ...creates, reply: [201, ` ${JSON.stringify(pumpAnswer({ relatedModels: toldOf(relatedModels) }))}`] },
        reads,
      ],
    ),
    {
      it: 'counts as success with a remark when the svc.configuration model must not be read {S9.15}',
      ...sent,
      backend: [device, absent, creates, { call: readConfiguration, reply: problem(403, 'Forbidden') }],
      ...created(),
      log: {
        code: 'ok',
        remarks: [
          'no notification of svc.configuration: information model: read object model failed with HTTP 403: Forbidden: as it is',
        ],
      },
    },
    {
      it: 'counts as success when the information model fails over the svc.configuration model',
      ...sent,
      backend: [device, absent, creates, ...failsToTheEnd({ call: readConfiguration })],
      ...created(),
      log: { code: 'ok', remarks: [expect.stringMatching(/^no notification of svc.configuration: .*incident/)] },
    },
  ];
}
