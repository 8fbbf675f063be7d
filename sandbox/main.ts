import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BuildFailed } from './build.ts';
import { AlreadyRunning } from './company.ts';
import { DemonstrationFailed, demonstrate } from './demonstration/demonstrate.ts';
import { demonstrateMethods } from './demonstration/demonstrateMethods.ts';
import { help, type Options, readArguments, UsageError } from './options.ts';
import { createPrinter, type Printer } from './print.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { answers, ServiceFailed, type ServiceProcess, tail } from './serviceProcess.ts';

/** Errors that say all there is to say; any other deserves its stack. */
const expected = [AlreadyRunning, BuildFailed, DemonstrationFailed, ServiceFailed, UsageError];

const interrupt = new AbortController();
const { signal } = interrupt;

process.exitCode = await main();

async function main(): Promise<number> {
  let options: Options | undefined;
  let printer = createPrinter();
  let sandbox: Sandbox | undefined;
  try {
    options = readArguments();
    if (options.json) printer = createPrinter(process.stderr);
    if (options.help) {
      printer.line(help);
      return 0;
    }
    listenForInterrupt(printer);
    printer.progress('The sandbox starts');
    sandbox = await startSandbox({ ...options, printer, signal });
    if (options.json) process.stdout.write(`${JSON.stringify(sandbox.state, undefined, 2)}\n`);
    await Promise.race([run(sandbox, options, printer), interruption(), death(sandbox)]);
    return 0;
  } catch (error) {
    if (signal.aborted) return options?.exit ? 1 : 0;
    process.stderr.write(`\n${explain(error)}\n`);
    return 1;
  } finally {
    if (sandbox) printer.progress('The sandbox ends');
    await sandbox?.close();
  }
}

/** Resolves when all is done that was asked for: after the demonstration with `exit`, never without. */
async function run(sandbox: Sandbox, { exit, service, directory }: Options, printer: Printer): Promise<void> {
  if (exit) {
    // Without a service nobody should answer, but that is for the demonstration to find out.
    if (!service) printer.progress('There is no service: the demonstration waits 5 s for a reply, and then fails');
    await demonstrate(sandbox, { printer, signal, waitMs: service ? 15_000 : 5_000 });
    if (sandbox.frontDoor?.process) await demonstrateMethods(sandbox, { printer, signal });
    return;
  }
  if (!service) {
    printer.line(`\nThe service is yours to start, for example with:\n
  npm run build && (set -a; . ${sandbox.state.service.environmentFile}; node --inspect dist/main.js)\n`);
    while (!(await answers(sandbox.state.service.readyzUrl))) await sleep(500, undefined, { signal });
    printer.progress('Your service is ready');
  }
  await demonstrate(sandbox, { printer, signal });
  if (sandbox.frontDoor?.process) await demonstrateMethods(sandbox, { printer, signal });
  printer.progress(`The sandbox stays up: every host, port and key is in ${join(directory, 'state.json')}`);
  printer.line(`
  Send as a device   npm run device -- model.create
  All messages       npm run device -- --help
  What the hub saw   ${sandbox.state.hub.adminUrl}
  The backends       ${sandbox.state.backends.adminUrl}
  All of it, live    curl -N ${sandbox.state.hub.adminUrl}/journal/stream
  The service's log  ${sandbox.state.service.logFile}
  Remote methods     ${sandbox.state.methods?.url}
  Answer them        npm run device -- --methods --id motor-1
  Invoke one         npm run invoke -- motor-1 stop
  One of a module    npm run invoke -- edge-1/press stop
  Modules' broker    ${sandbox.state.edge?.broker.url}
  End                Ctrl-C\n`);
  await interruption();
}

/** Rejects when a person wants to end. */
async function interruption(): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort');
  throw signal.reason;
}

/** Rejects when service, front door or edge proxy have ended, which they should not. */
async function death({ service, frontDoor, edge, state }: Sandbox): Promise<never> {
  const [name, { reason }, logFile] = await Promise.race([
    ended('The service', service, state.service.logFile),
    ended('The front door', frontDoor?.process, state.methods?.logFile),
    ended('The edge proxy', edge?.process, state.edge?.proxy.logFile),
  ]);
  throw new ServiceFailed(`${name} ended: ${reason}.${await tail(logFile)}`);
}

async function ended(name: string, process: ServiceProcess | undefined, logFile = '') {
  return [name, await (process?.exited ?? interruption()), logFile] as const;
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  const plain = expected.some((kind) => error instanceof kind) || /^(ERR_PARSE_ARGS_|EADDRINUSE|EACCES)/.test(code);
  return plain ? error.message : (error.stack ?? error.message);
}

/** The first Ctrl-C ends everything in order; a second one, a second later or more, at once. */
function listenForInterrupt(printer: Printer): void {
  let first = 0;
  const end = () => {
    if (first === 0) {
      first = performance.now();
      printer.line();
      interrupt.abort();
    } else if (performance.now() - first > 1_000) {
      process.exit(130);
    }
  };
  process.on('SIGINT', end).on('SIGTERM', end);
  // Nobody reads any more: `npm run sandbox | head`.
  process.stdout.on('error', () => interrupt.abort());
}
