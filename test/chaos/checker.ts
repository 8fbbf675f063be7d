import { grouped } from '../support/observed.ts';
import { createCourse, type Observation } from './course.ts';
import type { Handled, History } from './history.ts';
import { inversions } from './inversions.ts';
import { checkAcknowledgements, checkNotifications } from './replies.ts';
import { hasDropped, ourFault, type Traces, tracesOf } from './traces.ts';

export interface Finding {
  readonly what:
    | 'lost'
    | 'inverted'
    | 'duplicated'
    | 'wrong acknowledgement'
    | 'wrong notification'
    | 'uncounted'
    | 'state';
  /** Of the message, device or partition. */
  readonly id: string;
  readonly why: string;
}

/** Holds a history against the guarantees G1 to G4: one finding for each breach, none when all is well. */
export function check(history: History): Finding[] {
  const findings: Finding[] = [];
  const traces = tracesOf(history);
  for (const [deviceId, messages] of grouped(traces, ({ sent }) => sent.deviceId)) {
    const observation = createCourse(history.connected);
    for (const one of messages) findings.push(...checkOne(one, observation));
    const differences = observation.differences(history.state.get(deviceId));
    findings.push(...differences.map((why) => ({ what: 'state', id: deviceId, why }) as const));
  }
  return [...findings, ...checkOrder(history, traces), ...checkRepeats(history)];
}

function checkOne(one: Traces, observation: Observation): Finding[] {
  const { sent, effects, handled, hasFailed, isParked, isUnexecuted } = one;
  const due = observation.due(sent.intent);
  const findings: Finding[] = [];
  const find = (what: Finding['what'], why: string) => findings.push({ what, id: sent.id, why });

  if (effects > due.effects) find('duplicated', `${effects} changes instead of ${due.effects}`);
  if (effects < due.effects && !hasFailed) find('lost', `${effects} changes instead of ${due.effects}`);
  observation.proceed(sent, effects, hasFailed);
  checkAcknowledgements(one, due, find);
  checkNotifications(one, due, observation, find);
  // C1: handled again and done, it has no dead letter any more
  if (handled.length > 0 && handled.every((line) => ourFault.has(line.code)) && !isParked)
    find('lost', 'failed through our side, and is not among the dead letters');
  if (isUnexecuted && sent.intent.does !== 'end the process') {
    find('lost', 'not executed, although it ends no process'); // G4
  }
  return findings;
}

function checkOrder({ sent, effects, told, parted }: History, traces: readonly Traces[]): Finding[] {
  // What was dropped, or not worth telling, may be told when the message is handled again, behind later ones.
  const retold = new Set(traces.filter((one) => hasDropped(one) || codesOf(one).size > 1).map((one) => one.sent.id));
  const whole = told.filter(({ id }) => !retold.has(id));
  // A request that was given up may still be carried out.
  const failed = new Set(traces.filter(({ hasFailed }) => hasFailed).map((one) => one.sent.id));
  const sure = effects.filter(({ id }) => !failed.has(id));
  const findingsOf = (events: readonly { id: string }[], word: string) =>
    inversions(
      sent,
      events.filter(({ id }) => !parted?.has(id)),
    ).map(
      ({ id, after }): Finding => ({
        ...{ what: 'inverted', id, why: `its ${word} comes after that of ${after}, which was sent later` },
      }),
    );
  return [...findingsOf(sure, 'effect'), ...findingsOf(whole, 'reply')];
}

const codesOf = ({ handled }: Traces) => new Set(handled.map(({ code }) => code));

function checkRepeats({ handled, begun, mostRepeats }: History): Finding[] {
  return [...grouped(handled, ({ partition }) => partition)].flatMap(([partition, lines]): Finding[] => {
    const most = mostRepeats.get(partition) ?? 0;
    // A clean stop may cut off what takes too long, but nothing that was finished; a death cuts off what is in work.
    const repeats = most === 0 ? repeatsIn(lines) : beginningsIn(lines, begun);
    const why = `${repeats} messages of partition ${partition} handled again, ${most} are the bound`;
    return repeats > most ? [{ what: 'duplicated', id: partition, why }] : [];
  });
}

/** How often messages were begun again, whether or not the beginning had come to an end. */
function beginningsIn(handled: readonly Handled[], begun: History['begun']): number {
  const lines = grouped(handled, ({ id }) => id);
  return [...lines].reduce((sum, [id, own]) => sum + Math.max(own.length, begun.get(id) ?? 0) - 1, 0);
}

export const repeatsIn = (handled: readonly Handled[]): number =>
  handled.length - new Set(handled.map(({ id }) => id)).size;
