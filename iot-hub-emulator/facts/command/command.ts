import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { trustHub } from '../../src/clients/trustHub.ts';
import { type Hub, startHub } from '../../src/hub.ts';
import type { Disturbed } from '../fact.ts';
import type { Outcome, Permissions } from '../lab/probe.ts';
import { hostOf, type Target } from '../lab/target.ts';
import { announcement } from './announcement.ts';
import { help, needsOf, type Options, readOptions, UsageError, usualGroup, variables } from './options.ts';
import { countOf, type Reliances, report, withoutKeys } from './report.ts';
import { probeAll } from './run.ts';

export interface Surroundings {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Relative paths count from here. */
  readonly folder: string;
  readonly stdout: Pick<NodeJS.WritableStream, 'write'>;
  readonly stderr: Pick<NodeJS.WritableStream, 'write'>;
  /** Ctrl-C. */
  readonly signal: AbortSignal;
  readonly reliances: Reliances;
}

/** Runs `npm run hub-facts`; returns its exit code. */
export async function hubFacts(around: Surroundings): Promise<number> {
  try {
    const options = readOptions(around.args);
    if (options.help) {
      around.stdout.write(help);
      return 0;
    }
    return await (around.environment[variables.hub] === undefined
      ? examineEmulator(options, around)
      : examineReal(options, around));
  } catch (error) {
    const isUsage = error instanceof UsageError || /^ERR_PARSE_ARGS_/.test((error as NodeJS.ErrnoException).code ?? '');
    around.stderr.write(`${(error as Error).message}\n${isUsage ? 'All options: npm run hub-facts -- --help\n' : ''}`);
    return isUsage ? 3 : 2;
  }
}

async function examineEmulator(options: Options, around: Surroundings): Promise<number> {
  const hub = await startHub({ otherwise: options.otherwise });
  const distrust = trustHub(hub);
  try {
    const permissions = { has: needsOf('S1', false), mayDisturb: new Set<Disturbed>(['readers', 'feedback']) };
    return await examine(targetOf(hub), permissions, 'the emulator', options, around);
  } finally {
    distrust();
    await hub.close();
  }
}

/** A running emulator, which this process must trust, as a target. */
export const targetOf = (hub: Pick<Hub, 'connectionString' | 'eventsConnectionString'>): Target => ({
  hub: hub.connectionString('iothubowner'),
  events: hub.eventsConnectionString,
  consumerGroup: usualGroup,
});

async function examineReal(options: Options, around: Surroundings): Promise<number> {
  const { environment, stdout } = around;
  const { [variables.hub]: hub = '', [variables.events]: events, [variables.storage]: storage } = environment;
  if (hostOf(hub) === '' || !/SharedAccessKeyName=/.test(hub))
    throw new UsageError(
      `${variables.hub} must be the connection string of a policy: HostName=…;SharedAccessKeyName=…`,
    );
  if (!events?.includes('EntityPath='))
    throw new UsageError(`${variables.events} must be that of the built-in event endpoint: Endpoint=…;EntityPath=…`);
  if (options.otherwise.length > 0) throw new UsageError('--otherwise is for the emulator only');
  const target = { hub, events, consumerGroup: options.group, ...(storage !== undefined && { storage }) };
  const permissions = {
    has: needsOf(options.tier, storage !== undefined),
    mayDisturb: new Set<Disturbed>([
      ...(options.group === usualGroup ? [] : ['readers' as const]),
      ...(options.feedback ? ['feedback' as const] : []),
    ]),
  };
  for (const line of announcement(target, permissions, options.only)) stdout.write(`${line}\n`);
  if (!options.yes) {
    stdout.write('\nNothing was done: add --yes to do it.\n');
    return 0;
  }
  stdout.write('\n');
  return examine(target, permissions, `the hub ${hostOf(hub)}`, options, around);
}

const signs: Readonly<Record<Outcome['result'], string>> = { held: '✓', differs: '✗', 'not tried': '–' };

async function examine(
  target: Target,
  permissions: Permissions,
  what: string,
  options: Options,
  around: Surroundings,
): Promise<number> {
  const { folder, stdout, signal, reliances } = around;
  const outcomes: Outcome[] = [];
  const onOutcome = (outcome: Outcome) => {
    outcomes.push(outcome);
    const { id, result, why } = outcome;
    stdout.write(withoutKeys(`${signs[result]} ${id}${why === undefined ? '' : `: ${why}`}\n`, target));
  };
  try {
    await probeAll(target, { permissions, signal, onOutcome, ...(options.only && { only: options.only }) });
  } finally {
    const file = resolve(folder, options.reportFile);
    await writeFile(file, withoutKeys(report(what, outcomes, reliances), target));
    const counts = (['held', 'differs', 'not tried'] as const).map(
      (result) => `${countOf(outcomes, result)} ${signs[result]}`,
    );
    stdout.write(`\n${counts.join('  ')}\nThe report is ${file}\n`);
  }
  if (signal.aborted) return 130;
  return countOf(outcomes, 'differs') === 0 ? 0 : 1;
}
