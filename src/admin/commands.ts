import { printable, shownValue } from '@device-messaging/telemetry/text.ts';
import { ConfigurationError, type Settings } from '../settings/config.ts';

/** Runs an operator's command with the arguments of the process. What it throws is printed as a sentence. @param command returns the exit code */
export async function runCommand(command: (args: string[]) => Promise<number>): Promise<void> {
  // `… | head` closes the pipe early.
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 0 : 1));
  process.exitCode = await command(process.argv.slice(2)).catch((error: Error) => {
    const problems = error instanceof ConfigurationError ? error.problems : error.message.split('\n');
    process.stderr.write(`${problems.map(printable).join('\n')}\n`);
    return 1;
  });
}

/** Prints how to use a command. @returns the exit code: 1, unless that was asked for */
export function showUsage(usage: string, isAsked: boolean): number {
  process.stdout.write(usage);
  return isAsked ? 0 : 1;
}

/** Kinds of options. */
export const text = { type: 'string' } as const;
export const flag = { type: 'boolean', default: false } as const;

/**
 * @param url of another admin port than that of the settings
 * @param path with its query
 * @param body to put; undefined: to get
 * @throws Error with a sentence for the operator
 */
export async function askAdmin(
  { host, port, token }: Pick<Settings['admin'], 'host' | 'port' | 'token'>,
  url: string | undefined,
  path: string,
  body?: object,
  signal?: AbortSignal,
): Promise<Response> {
  const base = new URL(url ?? `http://${reachable(host)}:${port}`);
  const target = new URL(path, base);
  if (target.origin !== base.origin) throw new Error('the path must begin with one slash'); // the token is for one host
  const response = await fetch(target, {
    ...(body && { method: 'PUT', body: JSON.stringify(body) }),
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(token !== '' && { authorization: `Bearer ${token}` }),
    },
    ...{ redirect: 'error', signal: signal ?? null },
  }).catch((error: Error) => {
    const why = error.cause instanceof Error ? error.cause.message : error.message;
    throw new Error(`the admin port at ${base.origin} does not answer: ${why}`);
  });
  if (response.ok) return response;
  const refusal = (await response.json().catch(() => undefined)) as { readonly error?: unknown } | null | undefined;
  throw new Error(String(refusal?.error ?? `the admin port answers ${response.status}: is it another program?`));
}

/** An address that means every interface is reached over the loopback one. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

const colours: Readonly<Record<string, number>> = {
  ...{ read: 36, attempt: 34, sent: 34, reply: 35, answer: 35, handled: 32 },
  ...{ 'reply waits': 33, refused: 33, waits: 33, parked: 31, gap: 31, dropped: 31 },
};
const bodies = ['body', 'request', 'response'];

/** A line of the tap for people: time (UTC), position or correlation id, stage, fields; bodies on lines of their own. */
export function readableLine(json: string, hasColours: boolean): string {
  // Each line is about the same device, and the ids stand where the message begins.
  const { time, stage, device: _, partition, sequenceNumber, ...ofMessage } = JSON.parse(json);
  const { correlationId = '', ...ofInvocation } = ofMessage;
  const isInvocation = partition === undefined;
  const [on, off] = hasColours ? [`\u001b[${colours[stage] ?? 0}m`, '\u001b[0m'] : ['', ''];
  const place = isInvocation ? String(correlationId) : `${partition}/${sequenceNumber}`;
  const fields = Object.entries<unknown>(isInvocation ? ofInvocation : ofMessage);
  const isBody = ([name]: readonly [string, unknown]) => bodies.includes(name);
  const short = fields.filter((one) => !isBody(one)).map(([name, value]) => `${printable(name)}=${shownValue(value)}`);
  const long = fields.filter(isBody).map(([name, value]) => `    ${name}: ${printable(String(value))}\n`);
  const begin = [String(time).slice(11, 23), printable(place).padEnd(10), `${on}${String(stage).padEnd(11)}${off}`];
  return `${[...begin, ...short].join('  ')}\n${long.join('')}`;
}
