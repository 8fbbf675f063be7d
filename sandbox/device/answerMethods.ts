import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Printer } from '../terminal/print.ts';
import { showJson, showText, visible, withoutSignatures } from '../terminal/showMessage.ts';
import type { Device } from './device.ts';
import { describeFiles } from './files.ts';

/** How a device answers every invocation. */
export interface AnswerOptions {
  /** The method's own status. */
  status: number;
  /** A JSON object; `null`: nothing. Absent: the inputs as they came, if there are any. */
  output?: Readonly<Record<string, unknown>> | null;
  /** Instead of the method's answer: the device could not run it, with this status and the reason. */
  failure?: { status: number; detail: string };
  delayMs: number;
  /** Ends after so many invocations. */
  times: number;
}

/** What the front door sends with the direct method `invokeMethod`. */
interface Invocation {
  correlationId?: string;
  method?: string;
  target?: string;
  input?: Readonly<Record<string, unknown>>;
  files?: Readonly<Record<string, { url: string; bytes: number }>>;
}

/** Answers `invokeMethod` and shows each invocation with its answer, `times` times or until `signal`. Rejects when the connection is lost. */
export async function answerMethods(
  device: Device,
  { status, output, failure, delayMs, times }: AnswerOptions,
  { line, paint }: Printer,
  signal: AbortSignal,
): Promise<void> {
  const done = new AbortController();
  const ending = AbortSignal.any([signal, done.signal]);
  let answered = 0;

  await device.onMethod('invokeMethod', async (payload, send) => {
    const invocation = Object(payload) as Invocation;
    line(
      `\n  ${paint('bold', `${device.id} is invoked`)}  ${visible(String(invocation.method))}  ${paint('dim', clock())}`,
    );
    showText({ line }, withoutSignatures(JSON.stringify(payload)));
    for (const text of await describeFiles(invocation.files ?? {})) line(`    ${paint('dim', text)}`);
    await sleep(delayMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    const result = output === undefined ? invocation.input : (output ?? undefined);
    const answer = failure ? { detail: failure.detail } : { status, ...(result && { output: result }) };
    line(`\n  ${paint('bold', `${device.id} answers`)}  ${failure?.status ?? 200}  ${paint('dim', clock())}`);
    showJson({ line }, answer);
    await send(failure?.status ?? 200, answer);
    answered += 1;
    if (answered === times) done.abort();
  });
  line(`${device.id} is connected and answers methods${times === Number.POSITIVE_INFINITY ? '; Ctrl-C ends it' : ''}.`);
  if (!ending.aborted) await Promise.race([once(ending, 'abort'), device.lost]);
}

const clock = () => new Date().toISOString().slice(11, 23);
