import { beforeAll, describe, expect, it } from 'vitest';
import { buildService } from '../../../sandbox/service/build.ts';
import { withConstants } from '../../support/processes.ts';
import { sandboxForAll } from '../testSandbox.ts';
import { type Answer, createAsking } from './asking.ts';
import { operatorsToken } from './desk.ts';
import { createStage, devices, flooded, type Situation, type Stage, situations, slowMs } from './situations.ts';
import { type Row, tableRows } from './table.ts';

// Every question of the table in docs/operations.md is asked in every situation, by the commands and queries that stand there (D337).

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

// What the answers to the table of questions have to be, in each situation. A row has its answers in the order of its commands.

type Check = (answers: readonly Answer[], situation: Situation, stage: Stage) => unknown;

const jsonOf = (answer: Answer | undefined) => JSON.parse(answer?.output ?? '');
const linesOf = (answer: Answer | undefined) => (answer?.output ?? '').split('\n').filter((line) => line !== '');
const objectsOf = (answer: Answer | undefined) => linesOf(answer).map((line) => JSON.parse(line));

type ShownDevice = Readonly<{ device: string; messages: number; waitsFor: string }>;

type ShownBackend = Readonly<{ circuit: string; outage?: { readonly failure: string }; oldestMs: number }>;

type ShownPartition = Readonly<{ partition: string; behindSeconds: number | null; asOf: string }>;

const isHandled = ({ tapSays }: Situation) => tapSays === ' handled ';

/** The object that pump-7 updates does not exist. */
const codeOf = ({ pump7 }: Situation) => (pump7 === 'model.update' ? 'http_response_error' : 'ok');

/** Exactly these, or a part of them while messages are handled. */
function expectDevices(shown: readonly ShownDevice[], { waiting = [], waitsFor = /^$/, isMoving }: Situation) {
  const names = shown.map(({ device }) => device).toSorted();
  if (isMoving) expect(waiting).toEqual(expect.arrayContaining(names));
  else expect(names).toEqual(waiting.toSorted());
  const waits = shown.filter((one) => waitsFor.test(one.waitsFor));
  expect(waits.length).toBeGreaterThanOrEqual(isMoving ? 1 : waiting.length);
}

/** In seconds, as the test knows it: from when to when the oldest message was sent that is not done; undefined when all is done. */
function ageIn(partition: string, { from, to }: Answer, { waiting = [], isMoving }: Situation, stage: Stage) {
  const undone = stage.sent(waiting).filter((one) => String(one.partition) === partition);
  const [first] = undone;
  const last = isMoving ? undone.at(-1) : first; // the first may be done by now
  return first && last && { least: (from - last.to) / 1000 - rounding, most: (to - first.from) / 1000 + rounding };
}

/** The admin port says tenths of seconds, and the event has whole milliseconds. */
const rounding = 0.06;

function expectFigure(figure: number | null | undefined, ...known: Parameters<typeof ageIn>) {
  const age = ageIn(...known);
  if (age === undefined) expect(figure).toBe(0);
  else {
    expect(figure).toBeGreaterThanOrEqual(age.least);
    expect(figure).toBeLessThanOrEqual(age.most);
  }
}

const rightAnswers: Readonly<Record<string, Check>> = {
  'Why did a device get no answer at that time?'([own, outages, devices], situation, stage) {
    const lines = objectsOf(own);
    const code = codeOf(situation);
    const right = { device: 'pump-7', msg: 'handled', code, ack: 'all', replies: 1 };
    for (const line of lines) expect(line).toMatchObject(right);
    if (situation.slow !== undefined) expect(lines[0].backends[situation.slow].ms).toBeGreaterThanOrEqual(slowMs - 1);
    expect(lines).toHaveLength((situation.isAfterwards ? 1 : 0) + (isHandled(situation) ? 1 : 0));
    const [sent] = stage.sent(['pump-7']);
    const outOf = { 'the backend is back': 'laneWaitMs', 'the hub is back': 'hubWaitMs' }[situation.name];
    if (outOf !== undefined)
      expect(lines[0][outOf]).toBeGreaterThanOrEqual(stage.clearedAt() - (sent?.to ?? 0) - 1_000);
    const events = objectsOf(outages).map(({ event, backend }) => [event, backend]);
    const expected = {
      'the token endpoint is out from the start': [['token.missing', undefined]],
      'a backend is out': [['backend.out', 'principal manager']],
      'the backend is back': [
        ['backend.out', 'principal manager'],
        ['backend.back', 'principal manager'],
      ],
    }[situation.name];
    expect(events).toEqual(expected ?? []);
    const waits = jsonOf(devices).devices.some(({ device }: ShownDevice) => device === 'pump-7');
    expect(waits).toBe(situation.waiting?.includes('pump-7') ?? false);
  },

  'What happens to the messages of a device now?'([tap], situation) {
    const output = tap?.output ?? '';
    const reads = output.split('\n').filter((line) => / read /.test(line));
    expect(reads).toHaveLength(situation.isHubGone ? 0 : 1);
    if (situation.out !== undefined) expect(output).toMatch(/ waits .*for="a backend".*needs=.*principalManager/);
    if (isHandled(situation)) expect(output).toMatch(new RegExp(` handled +code=${codeOf(situation)} `));
    const attempts = [...output.matchAll(/ attempt .*backend="([^"]+)".* ms=(\d+)/g)];
    for (const [, backend, ms] of attempts) {
      if (situation.slow && backend === 'information model') expect(Number(ms)).toBeGreaterThanOrEqual(slowMs - 1);
    }
    expect(attempts.some(([, backend]) => backend === 'information model')).toBe(situation.slow !== undefined);
  },

  'What is stuck?'([devices, oldest], situation, stage) {
    expectDevices(jsonOf(devices).devices, situation);
    const stuckIn = new Set(stage.sent(situation.waiting ?? []).map(({ partition }) => String(partition)));
    for (const [partition, seconds] of oldest?.values ?? []) {
      if (stuckIn.has(partition)) expect(seconds).toBeGreaterThan(0);
      else expect(seconds).toBe(0);
    }
    expect(oldest?.values.size).toBe(stage.sandbox.hub.partitions.length);
  },

  'Which backend is slow?'([percentiles, backends], { slow, name }) {
    const now = Object.entries<ShownBackend>(jsonOf(backends));
    const inOrder = [...(percentiles?.values ?? [])].toSorted(([, one], [, other]) => other - one);
    if (slow === undefined) {
      expect(inOrder.map(([backend]) => backend)).not.toContain('informationModel'); // nobody has asked it since
    } else {
      expect(inOrder[0]).toEqual([slow, expect.any(Number)]);
      expect(inOrder[0]?.[1]).toBeGreaterThanOrEqual(slowMs / 1000);
    }
    const underWay = now.filter(([, { oldestMs }]) => oldestMs > 0).map(([backend]) => backend);
    // It hangs, but for the pauses between attempts.
    if (name === 'a device floods') expect(['principalManager']).toEqual(expect.arrayContaining(underWay));
  },

  'Which backend is out?'([backends, devices], situation) {
    const open = Object.entries<ShownBackend>(jsonOf(backends)).filter(([, { circuit }]) => circuit !== 'closed');
    const expected = situation.out === undefined ? [] : [[situation.out, { failure: 'HTTP 503' }]];
    expect(open.map(([name, { outage }]) => [name, outage])).toMatchObject(expected);
    expectDevices(jsonOf(devices).devices, situation);
  },

  'How far behind are we?'([shown, graph, age], situation, stage) {
    const { partitions, elsewhere } = jsonOf(shown);
    const all = stage.sandbox.hub.partitions.map(({ id }) => String(id));
    expect(partitions.map((one: ShownPartition) => one.partition).toSorted()).toEqual(all);
    expect(elsewhere).toEqual([]);
    expect([...(age?.values.keys() ?? [])].toSorted()).toEqual(all);
    for (const { partition, behindSeconds, asOf } of partitions as readonly ShownPartition[]) {
      const figureAge = age?.values.get(partition) ?? Number.NaN;
      if (situation.isHubGone) {
        expect([behindSeconds, graph?.values.get(partition)]).toEqual([null, undefined]);
        // The hub answered last before it went.
        expect(Date.parse(asOf)).toBeLessThanOrEqual(stage.since() + 1_000);
        expect(figureAge).toBeGreaterThanOrEqual(((age?.from ?? 0) - Date.parse(asOf)) / 1000 - rounding);
      } else {
        expectFigure(behindSeconds, partition, shown as Answer, situation, stage);
        expectFigure(graph?.values.get(partition), partition, graph as Answer, situation, stage);
        expect(Date.parse(asOf)).toBeLessThanOrEqual(shown?.to ?? 0);
      }
    }
  },

  async 'Which instance spoke?'([shown], _, { desk, sandbox }) {
    const { instance, partitions, elsewhere } = jsonOf(shown);
    expect((await desk.log()).at(-1)?.['instance']).toBe(instance);
    expect([partitions.length, elsewhere]).toEqual([sandbox.hub.partitions.length, []]);
  },

  async 'What did the last deploy change?'([starts, results, instances], situation, { desk, sent }) {
    const { instance } = (await desk.log()).at(-1) ?? {};
    const [[, ...started] = [], ...further] = objectsOf(starts);
    expect([started, further]).toEqual([[instance, expect.any(String), 'unknown'], []]);
    const waiting = situation.waiting ?? [];
    const done = sent().filter(
      ({ device }) => !situation.isHubGone && (situation.isMoving || !waiting.includes(device)),
    );
    const counts = [...(results?.values ?? [])].filter(([, count]) => count > 0);
    for (const [key] of counts) expect(key.split(' ')[0]).toBe(started[1]);
    const total = counts.reduce((sum, [, count]) => sum + count, 0);
    const sum = done.reduce((sum, { count }) => sum + count, 0);
    if (situation.isMoving) expect(total).toBeLessThan(sum);
    else expect(total).toBe(sum);
    for (const line of linesOf(instances)) expect(line.trim().split(/\s/)[1]).toBe(instance);
  },

  'Is it safe to stop?'([sums], { waiting = [], isMoving }, { sent }) {
    const [total] = objectsOf(sums);
    expect(total.failing).toBe(0);
    const undone = sent(waiting).reduce((sum, { count }) => sum + count, 0);
    if (isMoving) expect(total.inFlight + total.waiting).toBeLessThanOrEqual(undone);
    else expect(total.inFlight + total.waiting).toBe(undone);
  },

  'Has the hub failed over?'([lines]) {
    expect(objectsOf(lines)).toEqual([]);
  },

  'Who floods?'([now, afterwards], { name }) {
    const [first] = objectsOf(now);
    if (name === 'a device floods') expect(first).toEqual(['flooder', flooded]);
    else expect(first?.[0]).not.toBe('flooder');
    const [most] = linesOf(afterwards);
    if (name === 'the flood is over') expect(most?.trim()).toBe(`${flooded} flooder`);
  },

  'Who does not fetch?'([devices], { doNotFetch = [] }) {
    expect(jsonOf(devices).notFetching).toEqual({ devices: doNotFetch, further: 0 });
  },
};
