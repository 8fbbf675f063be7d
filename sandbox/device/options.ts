import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { sandboxDirectory } from '../state.ts';

export const help = `Sends one message as a device and prints every reply, until the acknowledgement is there.

  npm run device -- [options] NAME FILE

  NAME   what to send: model.create, … (V2), or Svc.Device.Created, … (V1)
  FILE   the body, sent byte for byte as it is; - reads it from stdin

  --id ID          the device, default pump-1; an unknown one is introduced to the sandbox first
  --ack WHEN       none, positive, negative or all (default)
  --prop NAME=VALUE  one more application property, or another value for one; may be repeated
  --without NAME   leaves out a property that is normally sent; may be repeated
  --wait SECONDS   how long to wait for the acknowledgement, default 30; with --ack none how long to listen, default 0
  --directory D    of the sandbox, default .sandbox
  --help

All nine messages, one line each; in this order they succeed in a new sandbox:

  npm run device -- model.create sandbox/examples/model.create.json
  npm run device -- Svc.Device.Created sandbox/examples/Svc.Device.Created.json
  npm run device -- --prop objectId=b0057e50-0000-4000-8000-000000000001 model.update sandbox/examples/model.update.json
  npm run device -- --prop objectId=b0057e50-0000-4000-8000-000000000001 Svc.Device.Updated sandbox/examples/Svc.Device.Updated.json
  npm run device -- --prop objectId=b0057e50-0000-4000-8000-000000000001 reference.create sandbox/examples/reference.create.json
  npm run device -- Svc.Device.SyncModel sandbox/examples/Svc.Device.SyncModel.json
  npm run device -- type.create sandbox/examples/type.create.json
  npm run device -- --id gateway-1 --prop parent=edge identity.update sandbox/examples/identity.update.json
  npm run device -- --id gateway-1 --prop parent=edge identity.delete sandbox/examples/identity.delete.json

Exit code: 0 a successful acknowledgement (or none was asked for), 1 a failed one, 2 none in time, 3 nothing was sent.`;

/** What to send, and how long to wait for what comes back. */
export interface Options {
  id: string;
  /** Of the sandbox. */
  directory: string;
  /** As it was given; a path is meant from where the person is. */
  file: string;
  expectsAck: boolean;
  waitMs: number;
  properties: Record<string, string>;
}

/** The options of `npm run device`; `undefined` when help is asked for. Throws an error that says what is wrong. */
export function readArguments(): Options | undefined {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      id: { type: 'string', default: 'pump-1' },
      ack: { type: 'string', default: 'all' },
      prop: { type: 'string', multiple: true, default: [] },
      without: { type: 'string', multiple: true, default: [] },
      wait: { type: 'string' },
      directory: { type: 'string', default: sandboxDirectory },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const [name, file, ...rest] = positionals;
  if (!name || !file || rest.length > 0) throw new Error(`A message name and a file are needed.\n\n${help}`);
  const expectsAck = values.ack !== 'none';
  const waitMs = 1000 * Number(values.wait ?? (expectsAck ? 30 : 0));
  if (!(waitMs >= 0)) throw new Error(`--wait takes seconds, not ${JSON.stringify(values.wait)}`);

  const properties = { ...envelope(name, values.ack), ...Object.fromEntries(values.prop.map(split)) };
  for (const unwanted of values.without) delete properties[unwanted];
  return { id: values.id, directory: fromWhereThePersonIs(values.directory), file, expectsAck, waitMs, properties };
}

/** npm starts scripts in the project's folder; a path is meant from where the person is. */
export function fromWhereThePersonIs(path: string): string {
  return resolve(process.env['INIT_CWD'] ?? '.', path);
}

/** The properties that every message of its generation has. */
function envelope(name: string, ack: string): Record<string, string> {
  return name.startsWith('Svc.')
    ? { 'svc-messagetype': 'platformEvent', eventType: name, id: randomUUID(), ack }
    : { msgType: 'action', action: name, version: '2', correlationId: randomUUID(), ack };
}

function split(pair: string): [string, string] {
  const at = pair.indexOf('=');
  if (at < 1) throw new Error(`--prop takes NAME=VALUE, not ${JSON.stringify(pair)}`);
  return [pair.slice(0, at), pair.slice(at + 1)];
}
