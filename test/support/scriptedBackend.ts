import { isDeepStrictEqual } from 'node:util';
import type { AxiosResponse, InternalAxiosRequestConfig } from 'axios';
import { TransportFailure } from '../../src/backends/transport.ts';

/** Status, body (text and bytes go out as they are, anything else as JSON) and headers; or what else can happen to a request. */
export type ScriptedReply =
  | readonly [status: number, body?: unknown, headers?: Readonly<Record<string, string>>]
  | 'lost'
  | 'refused'
  | 'hang';

/** A call that is expected, and what comes of it. */
export interface ScriptedCall {
  /** Method, path and query as they are on the wire: `GET /devices?device=d1`. */
  readonly call: string;
  /** Headers that matter, by their names in lower case. */
  readonly headers?: Readonly<Record<string, string | RegExp>>;
  /** Text is compared character by character, anything else as JSON. Without it the body does not matter. */
  readonly body?: unknown;
  readonly reply: ScriptedReply;
  readonly onCall?: () => void;
}

/** Calls in `together` may come in any order. */
export type Script = readonly (ScriptedCall | { readonly together: readonly ScriptedCall[] })[];

export interface ReceivedCall {
  readonly call: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** What came of it; undefined when the script did not expect it. */
  readonly reply: ScriptedReply | undefined;
}

export type ScriptedBackend = ReturnType<typeof scriptedBackend>;

/** Plays the backends: expects exactly the calls of the script, in its order. */
export function scriptedBackend(script: Script) {
  const groups = script.map((step) => [...('together' in step ? step.together : [step])]);
  const calls: ReceivedCall[] = [];
  const faults: string[] = [];

  function take(received: Omit<ReceivedCall, 'reply'>): ScriptedCall | undefined {
    while (groups[0]?.length === 0) groups.shift();
    const group = groups[0] ?? [];
    const named = group.filter(({ call }) => call === received.call);
    const step = named.find((one) => differences(one, received).length === 0) ?? named[0];
    if (step === undefined) {
      const next = group.map(({ call }) => call).join(' or ') || 'no further call';
      faults.push(`unexpected: ${received.call} (expected: ${next})`);
      return undefined;
    }
    group.splice(group.indexOf(step), 1);
    faults.push(...differences(step, received));
    return step;
  }

  return {
    calls: calls as readonly ReceivedCall[],
    /** For `createBackends`: stands for all three. */
    async adapter(config: InternalAxiosRequestConfig) {
      const received = receivedCall(config);
      const step = take(received);
      calls.push({ ...received, reply: step?.reply });
      if (step === undefined) throw new Error(`the script expects no ${received.call} here`);
      step.onCall?.();
      return replyTo(step.reply, config);
    },
    /** @throws Error that tells in words which calls were missing, unexpected or different */
    verify() {
      const missing = groups.flat().map(({ call }) => `missing: ${call}`);
      const report = [...faults, ...missing];
      if (report.length > 0) throw new Error(`the backends were not called as scripted\n  ${report.join('\n  ')}`);
    },
  };
}

function receivedCall({ method, url, headers, data }: InternalAxiosRequestConfig): Omit<ReceivedCall, 'reply'> {
  const lowerCase = Object.entries({ ...headers }).map(([name, value]) => [name.toLowerCase(), String(value)]);
  return { call: `${method?.toUpperCase()} ${url}`, headers: Object.fromEntries(lowerCase), body: data };
}

function differences({ call, headers = {}, body }: ScriptedCall, received: Omit<ReceivedCall, 'reply'>): string[] {
  const found: string[] = [];
  for (const [name, expected] of Object.entries(headers)) {
    const actual = received.headers[name];
    const matches = typeof expected === 'string' ? actual === expected : expected.test(actual ?? '');
    if (!matches) found.push(`different: ${call} has header ${name} ${actual ?? '(none)'}, expected ${expected}`);
  }
  if (body !== undefined && !isSameBody(body, received.body)) {
    const expected = typeof body === 'string' ? body : JSON.stringify(body);
    found.push(`different: ${call} has body ${received.body ?? '(none)'}, expected ${expected}`);
  }
  return found;
}

function isSameBody(expected: unknown, actual: string | undefined): boolean {
  if (typeof expected === 'string' || actual === undefined) return expected === actual;
  try {
    return isDeepStrictEqual(JSON.parse(actual), expected);
  } catch {
    return false;
  }
}

async function replyTo(reply: ScriptedReply, config: InternalAxiosRequestConfig): Promise<AxiosResponse> {
  if (reply === 'lost') throw new TransportFailure('connection lost', true);
  if (reply === 'refused') throw new TransportFailure('connection refused', false);
  if (reply === 'hang') {
    await new Promise((resolve) => setTimeout(resolve, config.timeout));
    throw new TransportFailure('no answer in time', true);
  }
  const [status, body, headers = {}] = reply;
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const data = Buffer.from(isRaw ? body : body === undefined ? '' : JSON.stringify(body));
  if (data.length > (config.maxContentLength ?? data.length)) throw new TransportFailure('answer too large', true);
  return { status, statusText: '', headers: { ...headers }, data, config };
}

/** So many attempts of one call may end with HTTP 500 (B4): the number is tested in `test/backends/retryPolicy.test.ts`. */
const mostServerErrors = 3;

/** The call with all its attempts, each of which ends with HTTP 500. */
export const failsToTheEnd = (call: Omit<ScriptedCall, 'reply'>, answer: unknown = 'out of order'): ScriptedCall[] =>
  Array.from({ length: mostServerErrors }, () => ({ ...call, reply: [500, answer] as const }));
