import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureCertificates } from 'iot-hub-emulator/testing';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { freePort } from '../../sandbox/service/freePort.ts';
import { isSecret } from '../../src/access/secretFiles.ts';
import type { Backends, MethodBackends } from '../../src/backends/backends.ts';
import { startFrontDoor } from '../../src/methods/frontDoor.ts';
import { createLog } from '../../src/observing/log.ts';
import { createHandling } from '../../src/programs/handling.ts';
import { runProgram } from '../../src/programs/program.ts';
import { startService } from '../../src/programs/service.ts';
import { readMethodsSettings, readSettings, settingDocs } from '../../src/settings/config.ts';
import { methodsSchema, schema } from '../../src/settings/table.ts';
import { openStore } from '../../src/stores/open.ts';
import { callOf } from '../backends/harness.ts';
import { at, callsOf, firstCall, forget, note } from './support/recording.ts';
import {
  constantsOfFrontDoor,
  constantsOfLookUp,
  constantsOfService,
  ofDoorWithIdentity,
  ofFrontDoor,
  ofIdentity,
  ofIdentityAndAccounts,
  ofLookUp,
  ofOwnAccounts,
  ofService,
  ofSharedFiles,
  ofSharedStore,
  type Receivers,
  type SettingRows,
} from './support/settingRows.ts';

// Each setting has a value of its own, and the table says which part gets it: two that are swapped, or one that is
// ignored, show. The parts work as usual; only what they are given is noted.

const { noted } = await vi.hoisted(() => import('./support/recording.ts'));
vi.mock('../../src/backends/backends.ts', noted);
vi.mock('../../src/backends/bulkhead.ts', noted);
vi.mock('../../src/backends/backend.ts', noted);
vi.mock('../../src/backends/tokens.ts', noted);
vi.mock('../../src/backends/typeRegistry.ts', noted);
vi.mock('../../src/backends/principalManager.ts', noted);
vi.mock('../../src/backends/transport.ts', noted);
vi.mock('../../src/concurrency/clocks.ts', noted);
vi.mock('../../src/concurrency/waiting.ts', noted);
vi.mock('../../src/stores/labelledBlobs.ts', noted);
vi.mock('../../src/stores/letterFiles.ts', noted);
vi.mock('../../src/stores/deadLetterStore.ts', noted);
vi.mock('../../src/observing/diagnosis.ts', noted);
vi.mock('../../src/hub/reading/foundEndpoint.ts', noted);
vi.mock('../../src/hub/methods/directMethods.ts', noted);
vi.mock('../../src/stores/methodFiles.ts', noted);
vi.mock('../../src/engine/rooms.ts', noted);
vi.mock('../../src/engine/budget.ts', noted);
vi.mock('../../src/hub/reading/balance.ts', noted);
vi.mock('../../src/hub/reading/consumer.ts', noted);
vi.mock('../../src/hub/replies/sender.ts', noted);
vi.mock('../../src/hub/replies/sendQueue.ts', noted);
vi.mock('../../src/hub/serviceSdk.ts', noted);
vi.mock('../../src/stores/blobCheckpoints.ts', noted);
vi.mock('../../src/stores/fileCheckpoints.ts', noted);
vi.mock('../../src/access/identity.ts', noted);
vi.mock('../../src/observing/log.ts', noted);
vi.mock('../../src/methods/limits.ts', noted);
vi.mock('../../src/methods/fileInputs.ts', noted);
vi.mock('../../src/methods/invoke.ts', noted);
vi.mock('../../src/methods/server.ts', noted);
vi.mock('../../src/admin/adminServer.ts', noted);
vi.mock('../../src/admin/fleet.ts', noted);
vi.mock('../../src/hub/hubTransport.ts', noted);
vi.mock('@device-messaging/telemetry/health.ts', noted);
vi.mock('@device-messaging/telemetry/outbound.ts', noted);
vi.mock('@device-messaging/telemetry/trust.ts', noted);

afterEach(forget);

const directory = mkdtempSync(join(tmpdir(), 'every-setting-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const [httpPort, adminPort, methodsPort] = await Promise.all([freePort(), freePort(), freePort()]);
const { cert, key } = await ensureCertificates(directory);
const fileWith = (name: string, text: string) => {
  const file = join(directory, name);
  writeFileSync(file, text);
  return [file, text] as const;
};
const places = {
  ...{ directory, httpPort, adminPort, methodsPort },
  ...{ certificate: fileWith('chain.pem', cert), key: fileWith('private.pem', key) },
  authority: fileWith('authority.pem', cert),
};

const secretVariables = settingDocs().flatMap(({ env, secret }) => (secret ? [env] : []));

/** The same rows, with each secret in a file. */
const inFiles = (rows: SettingRows): SettingRows =>
  Object.fromEntries(
    Object.entries(rows).map(([variable, [value, ...receivers]]) =>
      secretVariables.includes(variable)
        ? [`${variable}_FILE`, [fileWith(`${variable}-${value.length}`, value)[0], ...receivers]]
        : [variable, [value, ...receivers]],
    ),
  );

const environmentOf = (rows: SettingRows) =>
  Object.fromEntries(Object.entries(rows).map(([variable, [value]]) => [variable, value]));
const silent = () => createLog('silent');

/** Nothing of it is begun: the log is asked for, and the signals that it would listen to. */
async function program(settings: ReturnType<typeof readSettings> | ReturnType<typeof readMethodsSettings>) {
  vi.spyOn(process, 'on').mockReturnThis();
  const start = async () => ({ stop: async () => {} });
  const names = { name: 'The program', usage: '', telemetryName: 'program' };
  await runProgram({ ...names, readSettings: () => settings, start });
}

/** They are opened at their first use. */
const openDeadLetters = () => (firstCall('createDeadLetters').args[0] as { open(): Promise<unknown> }).open();

async function runService(rows: SettingRows) {
  const settings = readSettings(environmentOf(rows), directory);
  await program(settings);
  const running = await startService(settings, silent());
  (firstCall('createBackends').result as Backends).bind(callOf());
  const { partition } = firstCall('createConsumer').args[0] as {
    partition(id: string): { readonly limits: object; readonly quarantine: object };
  };
  const { limits, quarantine } = partition('7');
  note('limitsOfPartition', limits);
  note('quarantineOfPartition', quarantine);
  await openDeadLetters();
  await running.stop();
}

/** No store is asked: none is there. */
async function openShared(rows: SettingRows) {
  const { BACKENDS_TOKEN: _, ...others } = ofService(places);
  const settings = readSettings(environmentOf({ ...others, ...rows }), directory);
  const handling = createHandling(settings, silent());
  await openStore(settings);
  await openDeadLetters();
  await handling.close();
}

async function runWithIdentity(rows: SettingRows) {
  const settings = readSettings(environmentOf(rows), directory);
  const running = await startService(settings, silent());
  await openDeadLetters();
  await running.stop();
}

/** Nothing answers: it asks once. */
async function runLookUp(rows: SettingRows) {
  const running = await startService(readSettings(environmentOf(rows), directory), silent());
  await vi.waitFor(() => expect(callsOf('findEndpoint')).not.toEqual([]));
  await running.stop();
}

async function runFrontDoor(rows: SettingRows) {
  const settings = readMethodsSettings(environmentOf(rows), directory);
  await program(settings);
  const listened = vi.spyOn(Server.prototype, 'listen');
  const running = await startFrontDoor(settings, silent());
  for (const args of listened.mock.calls) note('listen', ...args);
  const { lineageOf } = firstCall('createMethodBackends').result as MethodBackends;
  lineageOf(callOf(), 'm', { typeId: 't', version: undefined }).catch(() => {});
  await running.stop();
}

/** What is in a file is handed on as what can change. */
const unwrapped = (received: unknown): unknown =>
  isSecret(received) && typeof received !== 'string' ? received.current() : received;

function expectReceived(what: string, receivers: Receivers) {
  for (const [place, received] of receivers) {
    const [, receiver = '', path = ''] = /^(.+) (\S+)$/.exec(place) ?? [];
    const found = callsOf(receiver).map(({ args }) => unwrapped(at(args, path)));
    expect(found, `${what}: ${place}`).toContainEqual(received);
  }
}

const programs: readonly [string, SettingRows, Receivers, (rows: SettingRows) => Promise<void>][] = [
  ['the service', ofService(places), constantsOfService, runService],
  ['the service that looks its endpoint up', ofLookUp(places), constantsOfLookUp, runLookUp],
  ['the service with a shared store', ofSharedStore, [], openShared],
  ['the service with accounts of their own for its stores', ofOwnAccounts, [], openShared],
  ['the service with an identity', ofIdentity(places), [], runWithIdentity],
  ['the service with an identity for accounts of their own', ofIdentityAndAccounts(places), [], runWithIdentity],
  ['the service with its secrets in files', inFiles(ofService(places)), [], runService],
  ['the service with the secrets of a shared store in files', inFiles(ofSharedStore), [], openShared],
  ['the service with the secrets of several accounts in files', inFiles(ofOwnAccounts), [], openShared],
  ['the front door with its secrets in files', inFiles(ofFrontDoor(places)), [], runFrontDoor],
  ['the front door', ofFrontDoor(places), constantsOfFrontDoor, runFrontDoor],
  ['the front door with an identity', ofDoorWithIdentity(places), [], runFrontDoor],
  ['the front door with files in the shared store', ofSharedFiles(places), constantsOfFrontDoor, runFrontDoor],
];

describe.each(programs)('of %s', (_, rows, constants, run) => {
  it('each setting and each constant reaches its part in the part’s unit', async () => {
    await run(rows);
    for (const [variable, [, ...receivers]] of Object.entries(rows)) expectReceived(variable, receivers);
    expectReceived('constant', constants);
  });

  it('each value is unique', () => {
    const values = Object.values(environmentOf(rows)).filter((value) => value !== 'blob');
    expect(new Set(values).size).toBe(values.length);
  });
});

/** The front door reads them only to refuse the names: "refuse the container … for files of methods". */
const refusedNames = ['CHECKPOINTS_CONTAINER', 'DEAD_LETTERS_CONTAINER'];
/** Instead of the token endpoint, by the part that gets it in the service, too. */
const either = ['BACKENDS_TOKEN', 'BACKENDS_TOKEN_FILE'];

it.each<[string, SettingRows, typeof schema | typeof methodsSchema, readonly string[]]>([
  [
    'the service',
    {
      ...ofService(places),
      ...ofSharedStore,
      ...ofOwnAccounts,
      ...ofIdentity(places),
      ...ofIdentityAndAccounts(places),
      ...inFiles(ofService(places)),
      ...inFiles(ofSharedStore),
      ...inFiles(ofOwnAccounts),
      ...ofLookUp(places),
    },
    schema,
    [],
  ],
  [
    'the front door',
    { ...ofFrontDoor(places), ...ofDoorWithIdentity(places), ...inFiles(ofFrontDoor(places)) },
    methodsSchema,
    [...refusedNames, ...either],
  ],
])('each setting of %s has a row', (_, rows, declared, others) => {
  const variables = settingDocs(declared).map(({ env }) => env);
  expect([...Object.keys(rows), ...others].sort()).toEqual(variables.sort());
});
