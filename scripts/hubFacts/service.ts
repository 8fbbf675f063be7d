import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Way } from 'iot-hub-emulator';
import { DemonstrationFailed } from '../../sandbox/demonstration/demonstrate.ts';
import { demonstrateMethods } from '../../sandbox/demonstration/demonstrateMethods.ts';
import { liveMessages } from '../../sandbox/live/messages.ts';
import { exchange } from '../../sandbox/live/sendLive.ts';
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts';

/** What the service has made of a hub that is otherwise than believed. */
export interface Seen {
  /** Of its nine messages, and of the invocations of methods. */
  readonly problems: readonly string[];
  /** What it has logged as a warning or an error, each once. */
  readonly events: readonly string[];
}

/**
 * Has the service handle its nine messages, and for facts about methods the invocations of the demonstration. For facts about events
 * it is stopped and started between them, so that it goes on where it was.
 */
export async function serviceAt(otherwise: readonly Way[], waitMs: number, signal: AbortSignal): Promise<Seen> {
  const directory = await mkdtemp(join(tmpdir(), 'otherwise-'));
  const withMethods = otherwise.some((way) => way.startsWith('methods.'));
  let sandbox: Sandbox | undefined;
  try {
    sandbox = await startSandbox({ directory, otherwise, signal, ...(withMethods && { methods: 'running' }) });
    const problems = withMethods
      ? await invocations(sandbox, signal)
      : await nineMessages(sandbox, { waitMs, signal, restarts: otherwise.some((way) => !way.startsWith('c2d.')) });
    const { logFile = '' } = sandbox.state.service;
    return { problems, events: troublesIn(await readFile(logFile, 'utf8')) };
  } finally {
    await sandbox?.close();
    await rm(directory, { recursive: true, force: true });
  }
}

const restartedBefore = 'model.update';

interface Observation {
  readonly waitMs: number;
  readonly signal: AbortSignal;
  readonly restarts: boolean;
}

async function nineMessages(sandbox: Sandbox, { waitMs, signal, restarts }: Observation): Promise<readonly string[]> {
  const run = `run-${randomBytes(4).toString('hex')}`;
  const device = await sandbox.connect('otherwise-1');
  const problems: string[] = [];
  try {
    for (const message of liveMessages({
      run,
      deviceId: 'otherwise-1',
      firstId: randomUUID(),
      secondId: randomUUID(),
    })) {
      signal.throwIfAborted();
      if (restarts && message.message === restartedBefore) {
        await sandbox.service?.stop();
        await sandbox.startService();
      }
      const found = await exchange(device, message, waitMs);
      problems.push(...found.map((text) => `${message.message}: ${text}`));
    }
    return problems;
  } finally {
    await device.close();
  }
}

async function invocations(sandbox: Sandbox, signal: AbortSignal): Promise<readonly string[]> {
  try {
    await demonstrateMethods(sandbox, { signal });
    return [];
  } catch (error) {
    if (!(error instanceof DemonstrationFailed)) throw error;
    return error.message.split('\n');
  }
}

const troubles = ['warn', 'error', 'fatal'];

function troublesIn(log: string): readonly string[] {
  const found = log.split('\n').flatMap((line) => {
    const { level = '', event, msg = '' } = parsed(line);
    return troubles.includes(level) ? [event ?? msg] : [];
  });
  return [...new Set(found)].toSorted();
}

function parsed(line: string): { readonly level?: string; readonly event?: string; readonly msg?: string } {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}
