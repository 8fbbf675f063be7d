import { parseArgs } from 'node:util';
import { UsageError } from '../terminal/usage.ts';

export const help = `Usage: npm run acceptance -- [options]

For the owner of a hub and of the service that runs there: sends every message
once from a device of its own and checks the replies, calls a method, and has
the service restarted and a message become a dead letter. Without --yes it only
says what it would do. What it is not told how to try, it skips by name.

Variables, also in .env:
  HUB_OWNER_CONNECTION_STRING   policy iothubowner: creates and removes the
                                device. Or DEVICE_CONNECTION_STRING: one that
                                is there, and stays
  METHODS_URL, METHODS_TOKEN    of the front door, and of an application that
                                may invoke methods of the device's objects
  ADMIN_URL, ADMIN_TOKEN        of the service's admin port: shows restart and
                                dead letter

  --yes            do it
  --device ID      the new device, default acceptance. The principal manager
                   must know it, and let it own what it creates
  --restart CMD    restarts the service: docker restart device-messaging.
                   Without it, a terminal is asked to
  --hinder CMD     has the principal manager answer with 500 and more, or not at
  --release CMD    all, until this. Without them, a terminal is asked to
  --wait S         for each answer, in seconds; default 30
  --sandbox D      the sandbox in this directory (.sandbox) instead of the
                   variables; --restart is not asked for there
  --json           print the results as JSON
  --help

Exit code: 0 when all that was tried is right, 1 when something is not, 2 when
the device may be left, 3 when nothing was tried, 130 after Ctrl-C.
`;

export interface Options {
  readonly help: boolean;
  readonly yes: boolean;
  readonly json: boolean;
  readonly device: string;
  readonly waitMs: number;
  /** Shell commands. */
  readonly restart: string | undefined;
  readonly hinder: string | undefined;
  readonly release: string | undefined;
  /** Directory of a sandbox. */
  readonly sandbox: string | undefined;
}

/** Throws `UsageError`, or what `parseArgs` throws. */
export function readOptions(args: readonly string[]): Options {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...{ yes: flag, json: flag, help: flag, restart: text, hinder: text, release: text, sandbox: text },
      device: { type: 'string', default: 'acceptance' },
      wait: { type: 'string', default: '30' },
    },
  });
  const waitMs = Number(values.wait) * 1000;
  if (!(waitMs >= 1000 && waitMs <= 3_600_000)) throw new UsageError('--wait takes seconds, from 1 to 3600');
  if ((values.hinder === undefined) !== (values.release === undefined))
    throw new UsageError('--hinder and --release go together: what fails has to work again');
  const { wait: _, restart, hinder, release, sandbox, ...rest } = values;
  return { ...rest, waitMs, restart, hinder, release, sandbox };
}
