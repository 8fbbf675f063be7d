import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { nearest } from '@device-messaging/telemetry/text.ts';
import { fromCommandLine, sandboxDirectory } from '../state/directories.ts';
import { stories } from '../stories/index.ts';
import { envelope } from '../stories/wire.ts';
import { fold } from '../terminal/fold.ts';
import { splitPair, UsageError } from '../terminal/usage.ts';
import { answeringOptions, readAnswering } from './answeringOptions.ts';
import type { AnswerOptions } from './answerMethods.ts';

const examples = stories.map(({ message, example }) =>
  fold(`  npm run device -- ${message.padEnd(21)} ${example.title}`, 80, 42),
);

export const help = `Sends one message as a device and prints the replies until the acknowledgement
arrives; or answers remote methods.

  npm run device -- [options] NAME [FILE]
  npm run device -- --methods [options]

  NAME   what to send: model.create, … (V2), or Svc.Device.Created, … (V1)
  FILE   the body, sent byte for byte; - reads it from stdin. Without it, the
         example of the message is sent, with its properties and from its
         device; another device has a serial number of its own in it

  --id ID          the device, default pump-1; a new one is registered with hub
                   and principal manager first
  --ack WHEN       none, positive, negative or all (default)
  --prop NAME=VALUE  one more application property, or another value for one;
                   may be repeated
  --without NAME   leaves out a property that is sent otherwise; may be repeated
  --wait SECONDS   how long to wait for the acknowledgement, default 30; with
                   --ack none how long to listen, default 0
  --directory D    of the sandbox, default .sandbox
  --help

With --methods the device stays connected and shows each invocation and its
answer. To invoke: npm run invoke.

  --status N       the method's own status, default 200
  --output JSON    its output: a JSON object, or none; default the inputs that
                   it received
  --fail N         the device cannot run the method: 400, 404, 409, 502, 503 or
                   504, or a status that it must not give
  --detail TEXT    the reason, with --fail
  --delay SECONDS  waits before it answers
  --times N        ends after N invocations; by default at Ctrl-C

For example, in three terminals, with
npm run invoke -- motor-1 configure '{"rpm":1450}' in the last:

  npm run sandbox
  npm run device -- --methods --id motor-1

The examples, which succeed in this order in a new sandbox:

${examples.join('\n')}

Exit code: 0 a successful acknowledgement (or none was requested); 1 a failed
one; 2 none in time; 3 nothing was sent, or the connection was lost. With
--methods: 0 at Ctrl-C or after --times, otherwise 3.`;

interface Common {
  id: string;
  /** Of the sandbox. */
  directory: string;
}

/** What to send, and how long to wait for what comes back; or how to answer methods. */
export type Options = SendOptions | (Common & { methods: AnswerOptions });

/** One message, and how long to wait for what comes back. */
export interface SendOptions extends Common {
  methods?: undefined;
  /** A text, or a file as it was given on the command line. */
  body: { text: string } | { file: string };
  expectsAck: boolean;
  waitMs: number;
  properties: Record<string, string>;
}

/** The options of `npm run device`; `undefined` when help is asked for. Throws `UsageError`, or what `parseArgs` throws. */
export function readArguments(args: readonly string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      id: { type: 'string' },
      ack: { type: 'string', default: 'all' },
      prop: { type: 'string', multiple: true, default: [] },
      without: { type: 'string', multiple: true, default: [] },
      wait: { type: 'string' },
      directory: { type: 'string', default: sandboxDirectory },
      methods: { type: 'boolean', default: false },
      ...answeringOptions,
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const [name = '', file, ...rest] = positionals;
  const example = file === undefined ? stories.find(({ message }) => message === name)?.example : undefined;
  const id = values.id ?? example?.device ?? 'pump-1';
  const common = { id, directory: fromCommandLine(values.directory) };
  if (values.methods && positionals.length > 0)
    throw new UsageError(`With --methods nothing is sent: leave out ${name}`);
  if (values.methods) return { ...common, methods: readAnswering(values) };
  if (!name || rest.length > 0)
    throw new UsageError(
      'The name of one message is needed, and at most one file, such as: npm run device -- model.create',
    );
  const isTheirs = example !== undefined && id !== (example.device ?? 'pump-1');
  const text = isTheirs ? withOwnSerial(example.body, id) : example?.body;
  const body = file === undefined ? text && { text } : { file };
  if (!body) throw new UsageError(noExampleOf(name));
  const expectsAck = values.ack !== 'none';
  const waitMs = 1000 * Number(values.wait ?? (expectsAck ? 30 : 0));
  if (!(waitMs >= 0)) throw new UsageError(`--wait takes seconds, not ${JSON.stringify(values.wait)}`);

  const properties = {
    ...envelope(name, randomUUID(), values.ack),
    ...example?.properties,
    ...Object.fromEntries(values.prop.map((pair) => splitPair('--prop', 'NAME=VALUE', pair))),
  };
  for (const unwanted of values.without) delete properties[unwanted];
  return { ...common, body, expectsAck, waitMs, properties };
}

/** The serial number of an example is that of its device: another one that sends it could not have the pump. */
const withOwnSerial = (body: string, id: string): string =>
  body.replace(/"serial": "[^"]*/g, (serial) => `${serial}-${JSON.stringify(id).slice(1, -1)}`);

function noExampleOf(name: string): string {
  const names = stories.map(({ message }) => message);
  return `There is no message ${JSON.stringify(name)}: the nearest name is ${nearest(name, names)}. To send it all the same, name a FILE with its body`;
}
