import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { spawn } from '../../sandbox/service/endWithUs.ts';
import { facts } from '../facts/catalogue.ts';
import { mostDevices } from '../facts/command/announcement.ts';
import { hubFacts, targetOf } from '../facts/command/command.ts';
import { probeAll } from '../facts/command/run.ts';
import { prefix } from '../facts/lab/lab.ts';
import type { Outcome, Permissions } from '../facts/lab/probe.ts';
import { trustHub } from '../src/clients/trustHub.ts';
import { rulesOtherwise } from '../src/core/contraryRules.ts';
import type { Hub, HubOptions } from '../src/hub.ts';
import { type Way, ways } from '../src/otherwise/ways.ts';
import { folderForAll } from './support/fixtures.ts';
import { hubForAll, hubForTest } from './support/sharedHub.ts';

// What is believed of a hub, asked of this one with the unmodified official clients.

const mayDisturb = new Set(['readers', 'feedback'] as const);
const permissions: Permissions = { has: new Set(['toDevices', 'methods']), mayDisturb };
/** Needs a partition whose oldest events have gone. */
const afterRetention = 'reading.before-oldest';
const probed = facts.filter(({ check }) => typeof check !== 'string' && !check.needs?.includes('storage'));
const quickly: Pick<HubOptions, 'rules'> = { rules: { feedback: { everyMs: 20 } } };

const fillUp = async (hub: Hub) =>
  void (await hub.faults.strike({ kind: 'burst', events: 40, bytes: 100, deviceId: 'filler' }));
const full: HubOptions = {
  ...{ partitions: 1, devices: [{ deviceId: 'filler' }], rules: { ...quickly.rules, bounds: { partition: 8 * 1024 } } },
};
const ask = async (hub: Hub, only: readonly string[]) => {
  const distrust = trustHub(hub);
  try {
    return await probeAll(targetOf(hub), { permissions, only });
  } finally {
    distrust();
  }
};

test('a hub that is otherwise keeps the other rules that it was given', () => {
  const given = { tier: 'S1', devicebound: { pending: 5, longestLifeMs: 1 }, idle: { beginning: 7 } } as const;
  expect(rulesOtherwise(given, new Set(['c2d.expiry', 'reading.idle']))).toEqual({
    tier: 'S1',
    devicebound: { pending: 5, longestLifeMs: Number.MAX_SAFE_INTEGER },
    idle: { beginning: 7, abandonedConnection: 1000, publisher: 1000, devicebound: 1000 },
  });
});

describe('each fact holds', () => {
  const outcomes = new Map<string, Outcome>();
  const made: string[] = [];
  const hub = hubForAll(quickly);
  const fullHub = hubForAll(full);
  beforeAll(async () => {
    await fillUp(fullHub);
    hub.registry.watch((change, { deviceId }) => void (change === 'created' && made.push(deviceId)));
    const usual = probed.map(({ id }) => id).filter((id) => id !== afterRetention);
    for (const outcome of [...(await ask(hub, usual)), ...(await ask(fullHub, [afterRetention]))])
      outcomes.set(outcome.id, outcome);
  });
  test.each(probed.map(({ id }) => id))('%s', (id) => expect(outcomes.get(id)).toEqual({ id, result: 'held' }));
  test('and no device is left of those that were made, as many as was said at most', () => {
    expect(hub.registry.list()).toEqual([]);
    expect(new Set(made).size).toBeGreaterThan(mostDevices / 2);
    expect(new Set(made).size).toBeLessThanOrEqual(mostDevices);
  });
});

describe('the contrary is noticed', () => {
  const noticed = probed.map(({ id }) => id).filter((id): id is Way => id in ways);

  test.each(noticed)('%s', async (way) => {
    const isFull = way === afterRetention;
    const hub = await hubForTest({ ...(isFull ? full : quickly), otherwise: [way] });
    if (isFull) await fillUp(hub);
    expect(await ask(hub, [way])).toMatchObject([{ id: way, result: 'differs' }]);
  });
});

describe('the list', () => {
  const isWeak = ({ sources }: (typeof facts)[number]) =>
    sources.some(({ kind }) => ['thread', 'inference'].includes(kind));

  test('has each id once', () => {
    const ids = facts.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });
  test('has for each fact that rests on a thread or an inference the other way, or why there is none', () => {
    const silent = facts.filter((fact) => isWeak(fact) && !(fact.id in ways) && fact.noOtherWay === undefined);
    expect(silent.map(({ id }) => id)).toEqual([]);
    expect(Object.keys(ways).filter((way) => !facts.some((fact) => fact.id === way && isWeak(fact)))).toEqual([]);
  });
});

describe('the command, at a hub that it knows by connection strings only', () => {
  const directory = folderForAll('hub-facts');
  const hub = hubForAll(quickly);
  const environment = () => ({
    HUB_OWNER_CONNECTION_STRING: hub.connectionString('iothubowner'),
    HUB_EVENTS_CONNECTION_STRING: hub.eventsConnectionString,
  });

  const run = async (args: readonly string[], given: Readonly<Record<string, string>>) => {
    let said = '';
    const out = {
      write(text: string) {
        said += text;
        return true;
      },
    } as never;
    const around = { folder: tmpdir(), signal: new AbortController().signal, reliances: {}, stdout: out, stderr: out };
    const code = await hubFacts({ ...around, args, environment: given });
    return { code, said };
  };

  test('only says what it would do without --yes', async () => {
    const { code, said } = await run([], environment());
    expect([code, said]).toEqual([0, expect.stringContaining('Nothing was done')]);
    expect(said).toMatch(/probes \d+ of \d+ facts.*creates up to \d+ devices.*sends \d+ messages of the daily quota/s);
    expect([hub.registry.list(), hub.journal.list({})]).toEqual([[], []]);
  });
  test('skips more where the tier has less, and says less of what it does', async () => {
    const facts = async (...args: string[]) => Number(/probes (\d+)/.exec((await run(args, environment())).said)?.[1]);
    expect(await facts('--tier', 'B1')).toBeLessThan(await facts());
    expect(await facts('--group', 'own')).toBeGreaterThan(await facts());
    expect(await facts('--feedback')).toBe((await facts()) + 1);
  });
  test.each<[string, readonly string[], (() => Readonly<Record<string, string>>)?]>([
    ['--no-such-option', ['--no-such-option']],
    ['--tier takes F1', ['--tier', 'S4']],
    ['--only takes the id of a fact', ['--only', 'events.none']],
    ['--otherwise takes events.hub-time', ['--otherwise', 'events.none']],
    ['--otherwise is for the emulator', ['--otherwise', 'c2d.size'], environment],
    ['HUB_EVENTS_CONNECTION_STRING must be', [], () => ({ ...environment(), HUB_EVENTS_CONNECTION_STRING: 'x' })],
    ['HUB_OWNER_CONNECTION_STRING must be', [], () => ({ ...environment(), HUB_OWNER_CONNECTION_STRING: 'x' })],
  ])('refuses what it cannot do: %s', async (sentence, args, given = () => ({})) =>
    expect(await run(args, given())).toEqual({ code: 3, said: expect.stringContaining(sentence) }),
  );
  test('removes its devices after Ctrl-C, and reports what it has seen', async () => {
    const file = join(directory, 'report.md');
    const made: string[] = [];
    hub.registry.watch((change, { deviceId }) => void (change === 'created' && made.push(deviceId)));
    const child = spawn(process.execPath, ['scripts/run.js', 'scripts/hubFacts.ts', '--yes', '--report', file], {
      env: { ...process.env, ...environment(), NODE_EXTRA_CA_CERTS: hub.caFile },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        if (!child.killed && /^✓ c2d\.arrives$/m.test(said)) child.kill('SIGINT');
      });
    const [code] = await once(child, 'close');
    expect([code, said]).toEqual([130, expect.stringContaining('✓ events.device-stamp')]);
    expect(said).not.toMatch(/^✗/m);
    expect(made.length).toBeGreaterThan(1);
    expect(made.filter((id) => !id.startsWith(prefix))).toEqual([]);
    expect(hub.registry.list()).toEqual([]);
    const page = await readFile(file, 'utf8');
    expect(page).toContain('- c2d.arrives: ');
    expect(page).toMatch(/- methods\.answer: the run was stopped/);
    const keys = Object.values(environment()).map((text) => /SharedAccessKey=([^;]+)/.exec(text)?.[1] ?? 'no key');
    expect(keys.filter((key) => (said + page).includes(key))).toEqual([]);
  });
});
