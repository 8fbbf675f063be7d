import { createServer, type RequestListener, type ServerOptions } from 'node:http';
import { onTestFinished, vi } from 'vitest';
import { listening } from '../../iot-hub-emulator/test/support/listening.ts';
import { createBackend } from '../../src/backends/backend.ts';
import { type Backends, createBackends } from '../../src/backends/backends.ts';
import { createDeadline } from '../../src/backends/deadline.ts';
import { type Call, createSending } from '../../src/backends/sending.ts';
import { staticToken } from '../../src/backends/tokens.ts';
import { createTroubles } from '../../src/observing/log.ts';
import type { Meter } from '../../src/observing/metrics.ts';
import { createRedaction } from '../../src/observing/redaction.ts';
import { Rejection } from '../../src/protocol/rejection.ts';
import { courseOf, recordingLog } from '../support/observed.ts';
import { type Script, type ScriptedBackend, type ScriptedReply, scriptedBackend } from '../support/scriptedBackend.ts';

export const settings = {
  ...{ informationModelUrl: 'http://im.invalid', typeRegistryUrl: 'http://tr.invalid' },
  ...{ principalManagerUrl: 'http://pm.invalid', token: 'static-token', tokenUrl: '', clientId: '' },
  ...{ clientSecret: '', tokenScope: '', attemptTimeoutSeconds: 30, maxAnswerBytes: 5000, connections: 4 },
  ...{ circuitFailures: 5, cacheSeconds: 30 },
};

export const answers = (call: string, ...replies: readonly ScriptedReply[]) =>
  replies.map((reply) => ({ call, reply }));

export const callOf = (changes: Partial<Call> = {}): Call => ({
  ...{ deviceId: 'd1', correlationId: 'c-1', observation: courseOf() },
  ...{ idempotencySeed: 'd3f3b7c6-52a1-5c0e-9c39-6f6f4f2e7a11', deadline: createDeadline(300) },
  ...changes,
});

type Bound = ReturnType<Backends['bind']>;

export interface Scripted extends Bound {
  readonly backends: Backends;
  readonly script: ScriptedBackend;
  readonly log: ReturnType<typeof recordingLog>;
}

/** The real clients over a script; chance is always its largest. Checks at the end that all was called as scripted. */
export function scripted(script: Script, changes: Partial<typeof settings> = {}, meter?: Meter): Scripted {
  const played = scriptedBackend(script);
  const log = recordingLog();
  const around = { adapter: played.adapter, random: () => 1, ...(meter && { meter }) };
  const backends = createBackends({ ...settings, ...changes }, log, around);
  onTestFinished(async () => {
    await backends.close();
    played.verify();
  });
  return { ...backends.bind(callOf()), backends, script: played, log };
}

export function openBackend(parts: Partial<Parameters<typeof createBackend>[0]>) {
  const log = recordingLog();
  const backend = createBackend({
    ...{ backend: 'informationModel', url: 'http://im.invalid', redact: createRedaction([]), log },
    tokens: staticToken('ours'),
    troubles: createTroubles(log),
    settings: { attemptTimeoutSeconds: 5, connections: 1 },
    ...parts,
  });
  onTestFinished(() => backend.close());
  return { backend, log, bind: createSending(backend) };
}

export async function serve(listener: RequestListener, options: ServerOptions = {}): Promise<string> {
  const { port, close } = await listening(createServer(options, listener));
  onTestFinished(close);
  return `http://127.0.0.1:${port}`;
}

/** The error of this kind that a promise is rejected with; nothing else will do. */
export async function rejectionBy<T>(kind: new (...given: never[]) => T, promise: Promise<unknown>): Promise<T> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof kind) return error;
    throw error;
  }
  throw new Error(`expected a ${kind.name}`);
}
export const rejection = (promise: Promise<unknown>): Promise<Rejection> => rejectionBy(Rejection, promise);

export async function settled<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  await vi.runAllTimersAsync();
  return work;
}
