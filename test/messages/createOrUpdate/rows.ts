import { expect } from 'vitest';
import { device, problem, pump, pumpAnswer } from '../../support/world.ts';
import { related, toldOf } from '../table/answers.ts';
import type { Row } from '../table/row.ts';
import { createdRows } from './created.ts';
import { lostAnswerRows } from './lostAnswers.ts';
import { raceRows, repeatedRows } from './races.ts';
import { refusedRows } from './refused.ts';
import { absent, configurationNews, type Registration, readConfiguration, stored } from './registration.ts';
import { updatedRows } from './updated.ts';

/** What both generations say of registering an object model. */
export const createOrUpdateRows = (registration: Registration): Readonly<Record<string, readonly Row[]>> => ({
  created: createdRows(registration),
  updated: updatedRows(registration),
  refused: refusedRows(registration),
  'repeats after a crash': repeatedRows(registration),
  'two at the same time': raceRows(registration),
  'lost answers': lostAnswerRows(registration),
  'notifications of svc.configuration': configurationRows(registration),
});

function configurationRows({ named, created, updated }: Registration): readonly Row[] {
  const { sent, creates, updates } = named();
  const reads = { call: readConfiguration, reply: [200, pump({ model: 'svc.configuration' })] } as const;
  const relatedModels = [related('svc.configuration')];
  const further = { relatedModels, configuration: configurationNews('Created') };
  return [
    {
      it: 'says ObjectModelCreated when this very request created the svc.configuration model',
      ...sent,
      backend: [device, absent, { ...creates, reply: [201, pumpAnswer({ relatedModels })] }, reads],
      ...created(pump(), further),
    },
    {
      it: 'says ObjectModelCreated when an update created the svc.configuration model',
      ...sent,
      backend: [device, stored(), { ...updates(1), reply: [200, pumpAnswer({ version: 2, relatedModels })] }, reads],
      ...updated(pump({ version: 2 }), further),
    },
    {
      it: 'says ObjectModelUpdated when the answer does not say that it created the svc.configuration model, which breaks the contract',
      ...sent,
      backend: [
        device,
        absent,
        { ...creates, reply: [201, ` ${JSON.stringify(pumpAnswer({ relatedModels: toldOf(relatedModels) }))}`] },
        reads,
      ],
      ...created(pump(), { relatedModels, configuration: configurationNews('Updated') }),
    },
    {
      it: 'counts as success when the svc.configuration model must not be read: it is only remarked upon',
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
      backend: [
        device,
        absent,
        creates,
        ...[1, 2, 3].map(() => ({ call: readConfiguration, reply: [500, 'out of order'] }) as const),
      ],
      ...created(),
      log: { code: 'ok', remarks: [expect.stringMatching(/^no notification of svc.configuration: .*incident/)] },
    },
  ];
}
