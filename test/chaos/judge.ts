import { restartCode } from '../../sandbox/service/process.ts';
import { check, type Finding } from './checker.ts';
import { checkLastLines } from './counts.ts';
import { checkForms } from './forms.ts';
import type { History } from './history.ts';
import { inHubOrder, untold } from './hubOrder.ts';
import { effectsIn, linesOf, recordOutcome } from './observe.ts';
import type { Message } from './sealed.ts';
import type { Stage } from './stage.ts';
import { connected } from './workload.ts';

interface Judged {
  readonly stage: Stage;
  readonly messages: readonly Message[];
  /** Name of the endpoint before any failover. */
  readonly first: string;
  /** Of the checkpoints of the endpoint that the hub is at: partition → sequence number. */
  readonly positions: ReadonlyMap<string, number>;
}

/** Looks at what is there when all is quiet and the instances have stopped. */
export async function judge({
  stage,
  messages,
  first,
  positions,
}: Judged): Promise<{ history: History; findings: Finding[] }> {
  const everybody = [...stage.instances, stage.guest];
  const lastLines = await Promise.all(everybody.map(checkLastLines));
  const calls = stage.backends.calls();
  const inOrder = inHubOrder(messages, stage, calls, effectsIn(calls, stage.hiding), first);
  const history = await recordOutcome(stage, inOrder, connected);
  const findings = [
    ...check(history),
    ...(await checkForms(stage, messages, history)),
    ...lastLines.flat(),
    ...untold(history.parted ?? new Set(), stage, await linesOf(stage)),
    ...unclean(everybody.flatMap(({ codes }) => codes)),
    ...uncovered(stage, positions),
  ];
  return { history, findings };
}

/** A drain has failed that ends in anything but 0, or in what asks for a restart: a failover may have come first (G3, D402). */
const unclean = (codes: readonly (number | null)[]): Finding[] =>
  codes.flatMap((code): Finding[] =>
    code === 0 || code === restartCode
      ? []
      : [{ what: 'state', id: '', why: `a clean stop ended with exit code ${code}` }],
  );

/** After a clean stop nothing is left that somebody would have to do again (G3). */
export const uncovered = ({ hub }: Stage, positions: ReadonlyMap<string, number>): Finding[] =>
  hub.partitions.flatMap((partition): Finding[] => {
    const [last, covered] = [partition.last()?.sequenceNumber, positions.get(String(partition.id))];
    const why = `partition ${partition.id} is covered up to ${covered} of ${last} after a clean stop`;
    return covered === last ? [] : [{ what: 'state', id: '', why }];
  });
