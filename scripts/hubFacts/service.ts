import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Way, ways } from 'iot-hub-emulator';
import { DemonstrationFailed } from '../../sandbox/demonstration/demonstrate.ts';
import { demonstrateMethods } from '../../sandbox/demonstration/demonstrateMethods.ts';
import { liveMessages } from '../../sandbox/live/messages.ts';
import { exchange } from '../../sandbox/live/sendLive.ts';
import { type Sandbox, startSandbox } from '../../sandbox/sandbox.ts';
import { createLogReader } from '../../test/chaos/logLines.ts';
import { expected } from './expected.ts';

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
    return { problems, events: await troublesIn(sandbox.state.service.logFile) };
  } finally {
    await sandbox?.close();
    await rm(directory, { recursive: true, force: true });
  }
}

const restartedBefore = 'model.update';

async function nineMessages(
  sandbox: Sandbox,
  { waitMs, signal, restarts }: { waitMs: number; signal: AbortSignal; restarts: boolean },
): Promise<readonly string[]> {
  const ids = { run: `run-${randomBytes(4).toString('hex')}`, firstId: randomUUID(), secondId: randomUUID() };
  const device = await sandbox.connect('otherwise-1');
  const problems: string[] = [];
  try {
    for (const message of liveMessages({ deviceId: 'otherwise-1', ...ids })) {
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

async function troublesIn(logFile: string): Promise<readonly string[]> {
  const lines = await createLogReader(logFile)();
  const found = lines.filter(({ level }) => troubles.includes(String(level)));
  return [...new Set(found.map(({ event, msg }) => String(event ?? msg)))].toSorted();
}

const replyWithinMs = 20_000;
/** Where all are refused, each message would wait so long. */
const shortlyMs = 1_500;

interface Options {
  /** All when empty. */
  readonly only: readonly string[];
  readonly print: (line: string) => void;
  readonly signal: AbortSignal;
}

/** What the service makes of each hub that is otherwise than believed. The answer counts those of which it makes something else than is documented. */
export async function serviceAgainstWays({ only, print, signal }: Options): Promise<number> {
  const names = (Object.keys(ways) as Way[]).filter((way) => only.length === 0 || only.includes(way));
  let wrong = 0;
  for (const way of names) {
    const { works } = expected[way];
    const seen = await serviceAt([way], works ? replyWithinMs : shortlyMs, signal).catch(notRunning);
    const faults = faultsOf(way, seen);
    if (faults.length > 0) wrong += 1;
    print(`${faults.length === 0 ? '✓' : '✗'} ${way}: ${ways[way]}`);
    print(`    ${works ? 'works' : 'fails'}: ${expected[way].says}`);
    for (const fault of faults) print(`    ${fault}`);
  }
  print(`\n${names.length - wrong} ✓  ${wrong} ✗`);
  return wrong;
}

const notRunning = (error: Error): Seen => ({ problems: [error.message.split('\n', 1)[0] ?? ''], events: [] });

function faultsOf(way: Way, { problems, events }: Seen): readonly string[] {
  const { works, events: logged = [] } = expected[way];
  const first = problems.slice(0, 3);
  const answers = works ? first.map((text) => `it must work: ${text}`) : [];
  if (!works && problems.length === 0) answers.push('it must fail, and works');
  const isLogged = isDeepStrictEqual(events, logged.toSorted());
  return isLogged
    ? answers
    : [...answers, `it logs ${events.join(', ') || 'nothing'} instead of ${logged.join(', ') || 'nothing'}`];
}
