import { beforeAll, describe, expect, it } from 'vitest';
import { buildService } from '../../../sandbox/service/build.ts';
import { withConstants } from '../../support/processes.ts';
import { sandboxForAll } from '../testSandbox.ts';
import { rightAnswers } from './answers.ts';
import { type Answer, createAsking } from './asking.ts';
import { operatorsToken } from './desk.ts';
import { createStage, devices, type Stage, situations } from './situations.ts';
import { type Row, tableRows } from './table.ts';

// Every question of the table in docs/troubleshooting.md is asked in every situation, by the commands and queries that stand there (D337).

const rows = tableRows();
beforeAll(async () => void (await buildService()));
const sandbox = sandboxForAll({
  service: false,
  environment: {
    ADMIN_TOKEN: operatorsToken,
    BACKENDS_ATTEMPT_TIMEOUT_SECONDS: '5',
    ...withConstants({ timing: { expirySeconds: 6, replySeconds: 1 } }),
  },
});
let stage: Stage;
beforeAll(async () => {
  stage = createStage(sandbox);
  for (const device of devices) await (await sandbox.connect(device)).close();
});

it('each question of the table has the right answers, and no other question has', () =>
  expect(Object.keys(rightAnswers).toSorted()).toEqual(rows.map(({ question }) => question).toSorted()));

describe.each(situations.map((one) => [one.name, one] as const))('when %s,', (_, situation) => {
  let answers: ReadonlyMap<Row, readonly Answer[]>;

  it('every question is asked', async () => {
    await stage.begin(situation);
    answers = await createAsking(sandbox.state.service, stage.desk).answer(rows, stage.asking(situation));
  });

  it.each(rows.map((row) => [row.question, row] as const))('%s', async (question, row) => {
    await rightAnswers[question]?.(answers.get(row) ?? [], situation, stage);
  });

  it('the process is alive, and the trouble ends', async () => {
    expect(await stage.desk.isAlive()).toBe(true);
    await situation.end?.(stage);
  });
});
