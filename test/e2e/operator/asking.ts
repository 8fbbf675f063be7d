import { delimiter, dirname } from 'node:path';
import { execFile, spawn } from '../../../sandbox/service/endWithUs.ts';
import { inherited } from '../../../sandbox/service/process.ts';
import { projectDirectory } from '../../../sandbox/state/directories.ts';
import { evaluate, type Sample } from '../../support/prom.ts';
import { type Addresses, type createDesk, followed, operatorsToken } from './desk.ts';
import { type Ask, type Row, shortNames } from './table.ts';

// Asks an instance what the table of questions says, by a shell, as somebody does who copies it from there.

export interface Answer {
  readonly text: string;
  /** Between these two times, in milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
  readonly output: string;
  /** What a query says, by the values of its labels. */
  readonly values: ReadonlyMap<string, number>;
}

export interface Asking {
  /** Since when, for commands that ask for a time. */
  readonly since: number;
  readonly before: readonly Sample[];
  /** What happens while one device is followed, and what the tap says last. */
  readonly follow: { readonly act: () => Promise<unknown>; readonly until: string };
}

/** Of a container, this machine has only what is in it: its programs, and their log. */
const docker = 'docker() { case "$1" in exec) shift 2; exec "$@";; logs) exec cat "$LOG_FILE";; esac; }';
const functions = [...shortNames].map(([name, command]) => `${name}() { ${command} "$@"; }`);

export function createAsking(addresses: Addresses, desk: ReturnType<typeof createDesk>) {
  const env = {
    ...inherited(),
    PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
    LOG_FILE: addresses.logFile,
    ADMIN_PORT: new URL(addresses.adminUrl).port,
    ADMIN_TOKEN: operatorsToken,
  };
  const shell = ['sh', ['-c'], { cwd: projectDirectory, env }] as const;
  const scriptOf = (command: string) => [docker, ...functions, command].join('\n');

  const run = (command: string) =>
    new Promise<string>((resolve, reject) => {
      const [program, args, options] = shell;
      const ended = (error: Error | null, output: string, errors: string) =>
        error === null && errors === ''
          ? resolve(output)
          : reject(new Error(`${command}: ${errors}`, { cause: error }));
      execFile(program, [...args, scriptOf(command)], { ...options, maxBuffer: 1e8 }, ended);
    });

  async function follow(command: string, { act, until }: Asking['follow']): Promise<string> {
    const [program, args, options] = shell;
    return followed(spawn(program, [...args, scriptOf(command)], options), until, act);
  }

  async function ask({ kind, text }: Ask, asking: Asking): Promise<Answer> {
    const from = Date.now();
    const output = kind === 'query' ? '' : await outputOf(text, asking);
    const values = kind === 'query' ? evaluate(text, asking.before, await desk.metrics()) : new Map();
    return { text, from, to: Date.now(), output, values };
  }

  const outputOf = (command: string, asking: Asking) =>
    isTap(command) ? follow(command, asking.follow) : run(atTimes(command, asking.since));

  return {
    /** Answers each question of these rows once: first what follows a device, then the others together. */
    async answer(rows: readonly Row[], asking: Asking): Promise<ReadonlyMap<Row, readonly Answer[]>> {
      const asks = new Map(rows.flatMap((row) => row.asks).map((one) => [one.text, one] as const));
      const answers = new Map<string, Answer>();
      for (const one of asks.values()) if (isTap(one.text)) answers.set(one.text, await ask(one, asking));
      await Promise.all(
        [...asks.values()]
          .filter(({ text }) => !isTap(text))
          .map(async (one) => answers.set(one.text, await ask(one, asking))),
      );
      return new Map(rows.map((row) => [row, row.asks.map(({ text }) => answers.get(text) as Answer)]));
    },
  };
}

const isTap = (command: string) => command.includes('dist/tap.js');

/** The times that a command names are examples: from then until now. */
function atTimes(command: string, since: number): string {
  const times = [since, Date.now() + 60_000].map((time) => `"${new Date(time).toISOString()}"`);
  return command.replace(/"\d{4}-\d\d-\d\dT[\d:]+"/g, () => times.shift() ?? '""');
}
