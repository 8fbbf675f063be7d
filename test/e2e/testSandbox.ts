import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EntryOf, Journal } from 'iot-hub-emulator/journal';
import { expect } from 'vitest';
import { startForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import type { BackendCall } from '../../sandbox/backends/calls/calls.ts';
import type { Device, Reply } from '../../sandbox/device/device.ts';
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts';
import type { SandboxOptions } from '../../sandbox/sandboxOptions.ts';
import { unpack } from '../../sandbox/terminal/showMessage.ts';
import { breachOfContract, entriesFor } from '../support/asyncapi.ts';
import { validateExchange } from '../support/contracts.ts';

export interface TestSandbox extends Sandbox {
  readonly directory: string;
}

interface TestSandboxOptions extends SandboxOptions {
  /** Default true; `npm run check` asks hub and backends for what no contract describes. */
  readonly keepsContracts?: boolean;
}

/** A sandbox, as `startTestSandbox` has it, that runs during all tests of a file or group. */
export const sandboxForAll = (options?: TestSandboxOptions): TestSandbox =>
  startForAll(() => startTestSandbox(options));

/** The device pump-1, connected during all tests of a file or group. */
export const deviceForAll = (sandbox: Sandbox): Device => startForAll(() => sandbox.connect('pump-1'));

/**
 * A sandbox with free ports and a folder of its own, which goes away with it. Its end fails the tests when the service
 * and a backend, or the service and a device, have said something to each other that their contract does not describe.
 */
export async function startTestSandbox(given: TestSandboxOptions = {}): Promise<TestSandbox> {
  const { keepsContracts = true, ...options } = given;
  const directory = await mkdtemp(join(tmpdir(), 'sandbox-'));
  const discard = () => rm(directory, { recursive: true, force: true });
  const sandbox = await startSandbox({ directory, ...options }).catch(async (error) => {
    await discard();
    throw error;
  });
  return Object.assign(sandbox, {
    directory,
    close: ((close) => async () => {
      await close();
      await discard();
      if (!keepsContracts) return;
      const all = [...breaches(sandbox.backends.calls()), ...breachesInJournal(sandbox.hub.journal)];
      expect(all, 'what was said against the contracts').toEqual([]);
    })(sandbox.close),
  });
}

const breaches = (calls: readonly BackendCall[]): string[] =>
  calls.flatMap(({ backend, method, path, headers, body, status, answer, fault }) => {
    if (backend === 'token' || status === null || fault !== undefined) return [];
    const asked = { backend, method, path, requestHeaders: headers, requestBody: body };
    return validateExchange({ ...asked, status, responseBody: answer }).map(
      (text) => `${method} ${path} → ${status}: ${text}`,
    );
  });

/** The next acknowledgement, and the notifications that came before it; fails the test when there is none. */
export async function nextAck(device: Device): Promise<{ notifications: Reply[]; ack: Reply; body: AckBody }> {
  const notifications: Reply[] = [];
  for (;;) {
    const reply = await device.next(120_000);
    if (reply === undefined) throw new Error('no reply has come');
    const { msgType, 'svc-messagetype': kind } = reply.properties;
    if (msgType === 'ack' || kind === 'platformEventAck')
      return { notifications, ack: reply, body: bodyOf(reply) as AckBody };
    notifications.push(reply);
  }
}

export const linesIn = (logFile: string): Record<string, unknown>[] =>
  readFileSync(logFile, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

export type AckBody = { success: boolean; code: string; details: string; objectId?: string; relatedModels?: unknown[] };

export const bodyOf = (reply: Reply): unknown => JSON.parse(unpack(reply).toString('utf8'));

/**
 * What the messages that went through a hub break of docs/contracts/asyncapi.yaml: replies of the service, and requests
 * for it, unless they were refused or would not have been told so.
 */
function breachesInJournal(journal: Journal): string[] {
  const replies = journal.list({ kind: 'c2d' }).filter(({ policy }) => policy === 'service');
  const refused = new Set(replies.filter(isFailure).map(exchangeOf));
  const requests = journal
    .list({ kind: 'd2c' })
    .filter(({ properties }) => properties['msgType'] === 'action' || properties['svc-messagetype'] === 'platformEvent')
    .map((request) => ({ ...request, direction: 'deviceToCloud' as const }))
    .filter((request) => entriesFor(request).length > 0 || !(refused.has(exchangeOf(request)) || isSilent(request)));
  return [
    ...requests.flatMap(breachOfContract),
    ...replies.flatMap((reply) => breachOfContract({ ...reply, direction: 'cloudToDevice' })),
  ];
}

// R4: replies repeat as text what a device may have sent as a number
const exchangeOf = ({ deviceId, properties }: EntryOf<'d2c' | 'c2d'>): string =>
  JSON.stringify([deviceId, String(properties['correlationId'] ?? properties['id'])]);

/** Whether the device would not hear of a failure. */
const isSilent = ({ properties }: EntryOf<'d2c'>): boolean =>
  ['', 'none', 'positive'].includes(String(properties['ack'] ?? '').toLowerCase());

function isFailure(reply: EntryOf<'c2d'>): boolean {
  const isAcknowledgement = [reply.properties['msgType'], reply.properties['svc-messagetype']].some((value) =>
    ['ack', 'platformEventAck'].includes(value ?? ''),
  );
  return isAcknowledgement && JSON.parse(unpack(reply).toString('utf8')).success === false;
}
