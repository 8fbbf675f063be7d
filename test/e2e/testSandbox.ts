import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import type { BackendCall } from '../../sandbox/backends/calls/calls.ts';
import type { Device, Reply } from '../../sandbox/device/device.ts';
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts';
import type { SandboxOptions } from '../../sandbox/sandboxOptions.ts';
import { unpack } from '../../sandbox/terminal/showMessage.ts';
import { validateExchange } from '../support/contracts.ts';
import { breachesInJournal } from './journalContract.ts';

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

/** What the calls of the backends have against their contracts. */
function breaches(calls: readonly BackendCall[]): string[] {
  return calls.flatMap(({ backend, method, path, headers, body, status, answer, fault }) => {
    if (backend === 'token' || status === null || fault !== undefined) return [];
    const asked = { backend, method, path, requestHeaders: headers, requestBody: body };
    return validateExchange({ ...asked, status, responseBody: answer }).map(
      (text) => `${method} ${path} → ${status}: ${text}`,
    );
  });
}

/** The next reply; fails the test when there is none. */
async function nextReply(device: Device): Promise<Reply> {
  const reply = await device.next(120_000);
  expect(reply, 'a reply').toBeDefined();
  return reply as Reply;
}

/** The next acknowledgement, and the notifications that came before it. */
export async function nextAck(device: Device): Promise<{ notifications: Reply[]; ack: Reply; body: AckBody }> {
  const notifications: Reply[] = [];
  for (;;) {
    const reply = await nextReply(device);
    const { msgType, 'svc-messagetype': kind } = reply.properties;
    if (msgType === 'ack' || kind === 'platformEventAck')
      return { notifications, ack: reply, body: bodyOf(reply) as AckBody };
    notifications.push(reply);
  }
}

/** The lines of a log that are JSON, as objects. */
export const linesIn = (logFile: string): Record<string, unknown>[] =>
  readFileSync(logFile, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

export type AckBody = { success: boolean; code: string; details: string; objectId?: string; relatedModels?: unknown[] };

export function bodyOf(reply: Reply): unknown {
  return JSON.parse(unpack(reply).toString('utf8'));
}
