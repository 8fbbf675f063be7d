import { parseArgs } from 'node:util';
import { fromCommandLine, sandboxDirectory } from '../state/directories.ts';
import { splitPair, UsageError } from '../terminal/usage.ts';

export const help = `Invokes a remote method as an application, and shows request, route and answer.

  npm run invoke -- [options] OBJECT METHOD [INPUT]

  OBJECT   an object id, or the path of its owner (motor-1,
           gateway-1/bus/drive-1), or its name
  METHOD   as the object's type declares it
  INPUT    a JSON object of input names and values, sent byte for byte as it is;
           - reads it from stdin

  --token WHO        invoker (default); reader, who may not invoke; stranger, of
                     another tenant; expired; or none
  --timeout SECONDS  how long the device may take, 5 to 300; the front door's
                     own default is 30
  --model M          model of the object, default svc.device
  --upload NAME=FILE first puts a file into the caller's folder of the storage;
                     may be repeated
  --directory D      of the sandbox, default .sandbox
  --help

In a new sandbox, with npm run device -- --methods --id motor-1
(or --id gateway-1) in another terminal:

  npm run invoke -- motor-1 stop
  npm run invoke -- motor-1 configure '{"label":"Hall 4","rpm":1450,
    "torque":12.5,"reverse":false,"curve":"curves/soft-start.json"}'
  npm run invoke -- motor-1 loadFirmware '{"image":"firmware/motor-2.1.0.bin",
    "name":"motor-2.1.0.bin"}'
  npm run invoke -- gateway-1/bus/drive-1 moveTo '{"angle":90}'
  npm run invoke -- --token reader motor-1 stop

Exit code: 0 the method answered, with any status of its own; 1 the invocation
was refused (4xx); 2 it failed, or may have run (5xx or no answer); 3 nothing
was invoked.`;

export const callers = ['invoker', 'reader', 'stranger', 'expired', 'none'] as const;

export interface Options {
  /** As it was given: id, path or name. */
  object: string;
  method: string;
  /** As it was given: JSON text, `-`, or nothing. */
  input: string | undefined;
  caller: (typeof callers)[number];
  /** As it was given. */
  timeout: string | undefined;
  model: string;
  uploads: { name: string; file: string }[];
  directory: string;
}

/** The options of `npm run invoke`; `undefined` when help is asked for. Throws `UsageError`, or what `parseArgs` throws. */
export function readArguments(args: readonly string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      token: { type: 'string', default: 'invoker' },
      timeout: { type: 'string' },
      model: { type: 'string', default: 'svc.device' },
      upload: { type: 'string', multiple: true, default: [] },
      directory: { type: 'string', default: sandboxDirectory },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const [object, method, input, ...rest] = positionals;
  if (!object || !method || rest.length > 0)
    throw new UsageError(
      'An object and a method are needed, and at most one input, such as: npm run invoke -- motor-1 stop',
    );
  const caller = callers.find((name) => name === values.token);
  if (!caller) throw new UsageError(`--token takes ${callers.join(', ')}, not ${JSON.stringify(values.token)}`);
  if (values.timeout !== undefined && !/^\d{1,6}$/.test(values.timeout)) {
    throw new UsageError(`--timeout takes whole seconds, not ${JSON.stringify(values.timeout)}`);
  }
  const { timeout, model } = values;
  const directory = fromCommandLine(values.directory);
  const uploads = values.upload.map((pair) => {
    const [name, file] = splitPair('--upload', 'NAME=FILE', pair);
    return { name, file: fromCommandLine(file) };
  });
  return { object, method, input, caller, timeout, model, uploads, directory };
}
