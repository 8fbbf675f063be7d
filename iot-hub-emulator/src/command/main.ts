import { resolve } from 'node:path';
import { type AdminPort, ask, HubRefused } from '../admin/ask.ts';
import { DirectoryInUse } from '../persistence/lock.ts';
import { Refusal } from '../values/refusal.ts';
import { called } from './called.ts';
import { type CommandLine, help, readArguments } from './options.ts';
import { portTaken } from './portTaken.ts';
import { introduction, show } from './print.ts';
import { requestFor } from './remote.ts';
import { answers, describe, findAdmin, hideFromGit, publish } from './stateFile.ts';
import { UsageError } from './usageError.ts';

/** Where a hub has its state unless a directory is named, and where a sandbox has its own: in the folder in which the command runs (H2). */
const [ownDirectory, sandboxDirectory] = [resolve('.iot-hub-emulator'), resolve('.sandbox')];
/** Errors that say all there is to say; any other deserves its stack. */
const expected = [UsageError, HubRefused, DirectoryInUse, Refusal];

const published = 'THE KEYS OF THIS HUB ARE PUBLISHED: it keeps nobody out. For development only.';

void main().then((code) => {
  process.exitCode = code;
});

async function main(): Promise<number> {
  let given: CommandLine['given'] = {};
  try {
    const from = process.env['INIT_CWD'] ?? process.cwd();
    const asked = readArguments(process.argv.slice(2), from, ownDirectory);
    given = asked.given;
    if (asked.help) console.log(help);
    else if (asked.words[0] === 'device') {
      const { play } = await import('./play.ts');
      await play(asked, () => runningHub(asked), interrupted());
    } else if (asked.words.length > 0) await command(asked, from);
    else await run(asked);
    return 0;
  } catch (error) {
    process.stderr.write(`${portTaken(error, given) ?? explain(error)}\n`);
    return 1;
  }
}

async function command(asked: CommandLine, from: string): Promise<void> {
  const request = requestFor(asked.words, from);
  const answer = await ask(await runningHub(asked), request);
  console.log(asked.json ? JSON.stringify(answer ?? {}, undefined, 2) : show(answer));
}

/** The hub that was asked for. Rejects with `UsageError` when none answers. */
async function runningHub({ adminUrl, adminToken, directory }: CommandLine): Promise<AdminPort> {
  const found = adminUrl === undefined ? findAdmin(directory, sandboxDirectory) : { url: adminUrl.replace(/\/$/, '') };
  if (found === undefined || !(await answers(found.url)))
    throw new UsageError(`No hub runs there. Start one with: ${called}, or name its admin port: --admin URL`);
  return { ...found, ...(adminToken !== undefined && { token: adminToken }) };
}

async function run({ directory, hub: options, json, endsWithStdin }: CommandLine): Promise<void> {
  const other = findAdmin(directory, directory);
  if (other !== undefined && (await answers(other.url)))
    throw new UsageError(
      `A hub runs in ${directory} already: ${other.url}. A second one needs a --directory of its own.`,
    );
  const ending = Promise.race([interrupted(), ...(endsWithStdin ? [endOfInput()] : [])]);
  if (directory === ownDirectory) await hideFromGit(directory);
  const { startHub } = await import('../hub.ts'); // a command for a hub that runs needs none of it
  const hub = await startHub(options);
  const state = describe(hub, new Date());
  const withdraw = await publish(directory, state);
  console.log(json ? JSON.stringify(state, undefined, 2) : introduction(state));
  if (options.development) process.stderr.write(`${published}\n`);
  await ending;
  await withdraw();
  await hub.close();
}

/** Resolves with the first Ctrl-C; another one, a second later or more, ends the process at once. */
function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    let first = 0;
    const end = () => {
      if (first === 0) {
        first = performance.now();
        resolve();
      } else if (performance.now() - first > 1000) process.exit(130);
    };
    process.on('SIGINT', end).on('SIGTERM', end);
  });
}

/** Resolves when standard input has ended: the program that started this one closed it, or is gone. */
function endOfInput(): Promise<void> {
  return new Promise((resolve) => {
    process.stdin
      .once('end', resolve)
      .once('close', resolve)
      .once('error', () => resolve())
      .resume();
  });
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  const plain = expected.some((kind) => error instanceof kind) || /^ERR_PARSE_ARGS_/.test(code);
  return plain ? error.message : (error.stack ?? error.message);
}
