import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { portTaken } from 'iot-hub-emulator';
import { help, type Options, readArguments } from './commandLine.ts';
import { DemonstrationFailed, demonstrate } from './demonstration/demonstrate.ts';
import { demonstrateMethods } from './demonstration/demonstrateMethods.ts';
import { openBrowser } from './page/openBrowser.ts';
import { AlreadyRunning } from './running.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { BuildFailed } from './service/build.ts';
import { answers, ServiceFailed, type ServiceProcess, tail } from './service/process.ts';
import { sandboxDirectory } from './state/directories.ts';
import { createPrinter, folding, type Printer, silent } from './terminal/print.ts';
import { explain } from './terminal/usage.ts';

/** Errors whose message is enough; others are printed with their stack. */
const expected = [AlreadyRunning, BuildFailed, DemonstrationFailed, ServiceFailed];

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
    sandbox = await startSandbox({ ...options, prettyLog: true, printer, signal });
    if (options.json) process.stdout.write(`${JSON.stringify(sandbox.state, undefined, 2)}\n`);
    if (sandbox.state.page) showPage(sandbox.state.page.url, options.open, printer);
    return await Promise.race([run(sandbox, options, printer), interruption(), unexpectedEnd(sandbox)]);
  } catch (error) {
    if (signal.aborted) return options?.exit ? 1 : 0;
    process.stderr.write(`\n${portTaken(error, options?.given ?? {}) ?? describe(error)}\n`);
    return 1;
  } finally {
    interrupt.abort(); // what still waits, for a service for example, ends as well
    if (sandbox) printer.progress('The sandbox ends');
    await sandbox?.close();
  }
}

/** With `exit`, resolves after the demonstration with the exit code; without, never. */
async function run(sandbox: Sandbox, options: Options, printer: Printer): Promise<number> {
  const { exit, service, directory } = options;
  const { state } = sandbox;
  if (!service && exit)
    printer.progress('There is no service: the demonstration waits 5 s for a reply, and then fails');
  if (!service && !exit) {
    printer.line(`\nStart the service yourself, for example with:\n
  npm run build && (set -a; . ${state.service.environmentFile}; node --inspect dist/main.js)\n`);
    while (!(await answers(state.service.readyzUrl))) await sleep(500, undefined, { signal });
    printer.progress('Your service is ready');
  }
  const isAsExpected = await demonstrateAll(sandbox, options, printer);
  if (exit) return isAsExpected ? 0 : 1;
  printer.progress(`The sandbox keeps running; all hosts, ports and keys are in ${join(directory, 'state.json')}`);
  printer.line(nextSteps(sandbox, directory));
  return interruption();
}

/** Whether all was as expected. What is not is told, and the sandbox goes on: a breakpoint, for example, has held the service. */
async function demonstrateAll(sandbox: Sandbox, options: Options, printer: Printer): Promise<boolean> {
  const { exit, service, verbose } = options;
  const common = { printer: verbose ? folding(printer) : silent, signal, tell: sandbox.tell };
  // The messages last: the page has the newest at the top.
  const parts = [
    ...(sandbox.frontDoor?.process ? [() => demonstrateMethods(sandbox, common)] : []),
    () => demonstrate(sandbox, { ...common, waitMs: exit && !service ? 5_000 : 15_000 }),
  ];
  let shown = 0;
  let isAsExpected = true;
  for (const part of parts) {
    try {
      shown += (await part()).length;
    } catch (error) {
      if (signal.aborted) throw error;
      isAsExpected = false;
      process.stderr.write(`\nThe demonstration ends here: ${describe(error)}\n\n`);
    }
  }
  if (isAsExpected) printer.progress(`${shown} examples went as expected; to read them: --verbose, or the page`);
  return isAsExpected;
}

function showPage(url: string, isOpened: boolean, printer: Printer): void {
  printer.progress(`What happens is to be seen at ${url}`);
  if (isOpened) openBrowser(url, () => printer.progress('No browser can be opened here'));
}

function nextSteps({ state, frontDoor }: Sandbox, directory: string): string {
  const there = directory === sandboxDirectory ? '' : ` --directory ${directory}`;
  const rows = [
    ...(state.page ? [['The page', state.page.url]] : []),
    ['Send as a device', `npm run device -- --id my-pump model.create${there}`],
    ...(state.edge ? [['Invoke a method', `npm run invoke -- edge-1/press configure '{"rpm":1450}'${there}`]] : []),
    [],
    ['All messages', 'npm run device -- --help'],
    ['The hub', state.hub.adminUrl],
    ['The backends', state.backends.adminUrl],
    ['All of it, live', `curl -N ${state.hub.adminUrl}/journal/stream`],
    ['Log of the service', state.service.logFile],
    ['What it does now', `npm run admin -- /devices --url ${state.service.adminUrl}`],
    ['Follow a device', `npm run tap -- --device pump-1 --url ${state.service.adminUrl}`],
    ...(frontDoor?.process
      ? [
          ['Front door', frontDoor.state.url],
          ['Answer as a device', `npm run device -- --methods --id motor-1${there}`],
          ['and invoke it', `npm run invoke -- motor-1 stop${there}`],
        ]
      : []),
    ...(state.edge ? [['Modules’ broker', state.edge.broker.url]] : []),
    ['End', 'Ctrl-C'],
  ];
  return `\n${rows.map(([name = '', value = '']) => `  ${name.padEnd(20)}${value}`.trimEnd()).join('\n')}\n`;
}

/** Rejects when a person wants to end. */
async function interruption(): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort');
  throw signal.reason;
}

/** Rejects when service, front door or edge proxy ends by itself. */
async function unexpectedEnd({ service, frontDoor, edge, state }: Sandbox): Promise<never> {
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

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  const isExpected =
    error.name === 'UsageError' || 'syscall' in error || expected.some((kind) => error instanceof kind);
  return isExpected || /^ERR_PARSE_ARGS_/.test(code) ? explain(error, 'sandbox') : (error.stack ?? error.message);
}

/** The first Ctrl-C ends everything in order; another one, at least a second later, at once. */
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
  // The reader of the pipe has ended: `npm run sandbox | head`.
  process.stdout.on('error', () => interrupt.abort());
}
