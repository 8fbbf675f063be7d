import { parseArgs } from 'node:util';
import { ConfigurationError, configDirectory, readAdminSettings } from './settings/config.ts';
import { readableLine } from './tap/readableLine.ts';
import { printable } from './text/printable.ts';

/** The operator's command to follow one device. */

const usage = `Usage: tap --device D [options]

Follows the messages of one device through the service, as they happen: read from the hub, waiting, begun, each backend
call, each reply, handled. Ask the instance that reads the device's partition; another one sees nothing. At the front
door of remote methods: the invocations of the device's methods.

  --device D    the device that the hub knows by this id
  --seconds N   for so long, up to 3600; default 60
  --bodies      with the bodies of messages, calls and replies, without what looks secret
  --json        one JSON object on each line
  --url U       address of the admin port; default http://127.0.0.1:<ADMIN_PORT>

ADMIN_TOKEN is sent if it is set.
`;

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1); // `tap | head` closes the pipe early
});
process.exitCode = await run(process.argv.slice(2)).catch((error: Error) => {
  process.stderr.write(
    `${printable(error instanceof ConfigurationError ? error.problems.join('\n') : error.message)}\n`,
  );
  return 1;
});

/** @returns exit code */
async function run(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      device: { type: 'string' },
      seconds: { type: 'string', default: '60' },
      bodies: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      url: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.device === undefined || values.help) {
    process.stdout.write(usage);
    return values.help ? 0 : 1;
  }
  const { host, port, token } = readAdminSettings(process.env, configDirectory);
  const url = new URL('/tap', values.url ?? `http://${reachable(host)}:${port}`);
  url.search = new URLSearchParams({
    device: values.device,
    seconds: values.seconds,
    bodies: String(values.bodies),
  }).toString();
  const response = await fetch(url, {
    headers: token === '' ? {} : { authorization: `Bearer ${token}` },
    redirect: 'error',
  }).catch((error: Error) => {
    const why = error.cause instanceof Error ? error.cause.message : error.message;
    throw new Error(`the admin port at ${url.origin} does not answer: ${why}`);
  });
  if (!response.ok) throw new Error(await refusal(response));
  for await (const line of linesOf(response)) {
    process.stdout.write(values.json ? `${line}\n` : readableLine(line, process.stdout.isTTY));
  }
  return 0;
}

/** An address that means every interface is reached over the loopback one. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

async function refusal(response: Response): Promise<string> {
  const text = await response.text();
  try {
    return String(JSON.parse(text).error);
  } catch {
    return `the admin port answers ${response.status}: is it another program?`;
  }
}

async function* linesOf(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body ?? []) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
