import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { sandboxDirectory } from '../state.ts';
import { stories } from '../stories/index.ts';
import { envelope } from '../stories/wire.ts';
import { answeringOptions, readAnswering } from './answeringOptions.ts';
import type { Answering } from './answerMethods.ts';

const examples = stories.map(({ message, example }) => `  npm run device -- ${message.padEnd(21)} ${example.title}`);

export const help = `Sends one message as a device and prints every reply, until the acknowledgement is there; or answers remote methods.

  npm run device -- [options] NAME [FILE]
  npm run device -- --methods [options]

  NAME   what to send: model.create, … (V2), or Svc.Device.Created, … (V1)
  FILE   the body, sent byte for byte as it is; - reads it from stdin. Without it the example of the message is sent, with
         the properties and by the device that belong to it

  --id ID          the device, default pump-1; an unknown one is introduced to the sandbox first
  --ack WHEN       none, positive, negative or all (default)
  --prop NAME=VALUE  one more application property, or another value for one; may be repeated
  --without NAME   leaves out a property that is normally sent; may be repeated
  --wait SECONDS   how long to wait for the acknowledgement, default 30; with --ack none how long to listen, default 0
  --directory D    of the sandbox, default .sandbox
  --help

With --methods the device stays connected, and shows each invocation and its answer. npm run invoke invokes.

  --status N       the method's own status, default 200
  --output JSON    what it puts out, a JSON object, or none; default the inputs as they came
  --fail N         the device cannot have the method run: 400, 404, 502, 503 or 504, or a status that it must not give
  --detail TEXT    why it cannot, with --fail
  --delay SECONDS  answers later
  --times N        ends after so many invocations; default: with Ctrl-C

For example, in three terminals, with npm run invoke -- motor-1 configure '{"rpm":1450}' in the last:

  npm run sandbox
  npm run device -- --methods --id motor-1

The examples; in this order they succeed in a new sandbox:

${examples.join('\n')}

Exit code: 0 a successful acknowledgement (or none was asked for), 1 a failed one, 2 none in time, 3 nothing was sent, or the
connection was lost. With --methods 0 when it ends as it was told to, else 3.`;

interface Common {
  id: string;
  /** Of the sandbox. */
  directory: string;
}

/** What to send, and how long to wait for what comes back; or how to answer methods. */
export type Options = Sending | (Common & { methods: Answering });

/** One message, and how long to wait for what comes back. */
export interface Sending extends Common {
  methods?: undefined;
  /** A text, or a file as it was given; a path is meant from where the person is. */
  body: { text: string } | { file: string };
  expectsAck: boolean;
  waitMs: number;
  properties: Record<string, string>;
}

/** The options of `npm run device`; `undefined` when help is asked for. Throws an error that says what is wrong. */
export function readArguments(args = process.argv.slice(2)): Options | undefined {
  const { values, positionals } = parseArgs({
    args,
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
  const common = { id, directory: fromWhereThePersonIs(values.directory) };
  if (values.methods && positionals.length > 0) throw new Error(`With --methods nothing is sent.\n\n${help}`);
  if (values.methods) return { ...common, methods: readAnswering(values) };
  if (!name || rest.length > 0) throw new Error(`The name of a message is needed, and at most one file.\n\n${help}`);
  const body = file === undefined ? example && { text: example.body } : { file };
  if (!body) throw new Error(`There is no example of ${name}: a file is needed.\n\n${help}`);
  const expectsAck = values.ack !== 'none';
  const waitMs = 1000 * Number(values.wait ?? (expectsAck ? 30 : 0));
  if (!(waitMs >= 0)) throw new Error(`--wait takes seconds, not ${JSON.stringify(values.wait)}`);

  const properties = {
    ...envelope(name, randomUUID(), values.ack),
    ...example?.properties,
    ...Object.fromEntries(values.prop.map(split)),
  };
  for (const unwanted of values.without) delete properties[unwanted];
  return { ...common, body, expectsAck, waitMs, properties };
}

/** npm starts scripts in the project's folder; a path is meant from where the person is. */
export function fromWhereThePersonIs(path: string): string {
  return resolve(process.env['INIT_CWD'] ?? '.', path);
}

function split(pair: string): [string, string] {
  const at = pair.indexOf('=');
  if (at < 1) throw new Error(`--prop takes NAME=VALUE, not ${JSON.stringify(pair)}`);
  return [pair.slice(0, at), pair.slice(at + 1)];
}
