import { parseArgs } from 'node:util';
import { isWay, type Way, ways } from '../../src/otherwise/ways.ts';
import { facts } from '../catalogue.ts';
import type { Need } from '../fact.ts';

/** The command line, or the environment, is wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export const variables = {
  hub: 'HUB_OWNER_CONNECTION_STRING',
  events: 'HUB_EVENTS_CONNECTION_STRING',
  storage: 'STORAGE_CONNECTION_STRING',
} as const;

export const help = `Usage: npm run hub-facts -- [options]

Probes what this project believes of an IoT hub: its emulator, or a real one.

  npm run hub-facts                     the emulator, started for it
  ${variables.hub}='HostName=…' \\
  ${variables.events}='Endpoint=…' npm run hub-facts -- --yes
                                        that hub: the policy iothubowner, and
                                        the built-in event endpoint
  ${variables.storage}            checks its storage, too

Without --yes it only says what it would do to a real hub, and what that costs.

  --yes              do it
  --tier T           F1, B1, B2, B3, S1, S2 or S3; default S1. It skips what the
                     tier does not have
  --group G          a consumer group that nobody else reads; default $Default,
                     and then it skips what would drive out other readers
  --feedback         also receives feedback, which other services then get later
  --only FACT        this one; may be given again
  --otherwise FACT   the emulator has the contrary of it; may be given again
  --report FILE      default hub-facts-report.md
  --service [FACT …] first of all: this project's service handles its messages
                     at emulators that have the contrary of these facts, or
                     of all that only a thread or an inference backs
  --help

Exit code: 0 when all that was tried held, 1 when something differs, 2 when
devices may be left, 3 when the command line is wrong, 130 after Ctrl-C.
`;

const tiers: readonly string[] = ['F1', 'B1', 'B2', 'B3', 'S1', 'S2', 'S3'];
export const usualGroup = '$Default';

export interface Options {
  readonly help: boolean;
  readonly yes: boolean;
  readonly tier: string;
  readonly group: string;
  readonly feedback: boolean;
  readonly only: readonly string[] | undefined;
  readonly otherwise: readonly Way[];
  readonly reportFile: string;
}

/** @throws UsageError, or what `parseArgs` throws */
export function readOptions(args: readonly string[]): Options {
  const many = { type: 'string', multiple: true } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      yes: { type: 'boolean', default: false },
      tier: { type: 'string', default: 'S1' },
      group: { type: 'string', default: usualGroup },
      feedback: { type: 'boolean', default: false },
      only: many,
      otherwise: many,
      report: { type: 'string', default: 'hub-facts-report.md' },
      help: { type: 'boolean', default: false },
    },
  });
  const tier = values.tier.toUpperCase();
  if (!tiers.includes(tier)) throw new UsageError(`--tier takes ${tiers.join(', ')}`);
  const unknown = values.only?.find((id) => !facts.some((fact) => fact.id === id));
  if (unknown !== undefined) throw new UsageError(`--only takes the id of a fact, not ${unknown}`);
  const otherwise = (values.otherwise ?? []).map((id) => {
    if (!isWay(id)) throw new UsageError(`--otherwise takes ${Object.keys(ways).join(', ')}`);
    return id;
  });
  const { help: wantsHelp, yes, group, feedback, report: reportFile } = values;
  return { help: wantsHelp, yes, tier, group, feedback, only: values.only, otherwise, reportFile };
}

/** What a hub of this tier has. */
export function needsOf(tier: string, storage: boolean): ReadonlySet<Need> {
  const has = new Set<Need>(tier.startsWith('B') ? [] : ['toDevices', 'methods']);
  return storage ? has.add('storage') : has;
}
