import { isDeepStrictEqual } from 'node:util';
import type { BackendCall } from '../../sandbox/backends/calls/calls.ts';
import { restartCode } from '../../sandbox/service/process.ts';
import { grouped } from '../support/observed.ts';
import { check, type Finding } from './checker.ts';
import { checkLastLines } from './counts.ts';
import type { History } from './history.ts';
import { inHubOrder, untold } from './hubOrder.ts';
import { effectsIn, handledBy, isAck, type Line, linesOf, recordOutcome } from './observe.ts';
import type { Place } from './places.ts';
import { repeatedReplies } from './repeatedReplies.ts';
import { flawsOf } from './replyForm.ts';
import { idOf, type Message } from './sealed.ts';
import { patienceSeconds, type Stage } from './stage.ts';
import type { DeadLetter } from './storage.ts';
import { ourFault } from './traces.ts';
import { connected } from './workload.ts';

interface Judged {
  readonly stage: Stage;
  readonly messages: readonly Message[];
  /** Name of the endpoint before any failover. */
  readonly first: string;
  /** Of the checkpoints of the endpoint that the hub is at: partition → sequence number. */
  readonly positions: ReadonlyMap<string, number>;
}

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

/** Compares all that devices and operators can see with what it must be, to the last property. */
async function checkForms(stage: Stage, sent: readonly Message[], history: History): Promise<Finding[]> {
  const calls = grouped(stage.backends.calls(), ({ headers }) => headers['x-correlation-id']);
  const lines = grouped(await handledBy(stage), ({ id }) => id);
  const replies = grouped(
    stage.replies.filter(({ refused }) => refused === undefined),
    ({ properties }) => idOf(properties),
  );
  const letters = grouped(await stage.letters(), ({ event: { properties } }) => idOf(properties));
  const unconfirmed = (await linesOf(stage)).flatMap(({ msg, time }) =>
    msg === 'the hub did not settle a reply in time' ? [Date.parse(String(time))] : [],
  );
  const created = new Map(
    stage.backends.world.objects.list().map(({ objectId, properties }) => [markOf(properties), objectId]),
  );
  const explanations = { ...stage, unconfirmed };
  return sent.flatMap((message) => {
    const { id } = message;
    const own = { calls: calls.get(id) ?? [], lines: lines.get(id) ?? [], replies: replies.get(id) ?? [] };
    const isTroubled = history.struck.has(id) || own.lines.length > 1 || (history.begun.get(id) ?? 0) > 1;
    const circumstances = {
      answers: own.calls.flatMap(({ answer }) => answer ?? []),
      ...{ createdId: created.get(id), isTroubled, places: stage.places.get(id) ?? [], clockErrors: stage.clockErrors },
    };
    const find = (what: Finding['what']) => (why: string) => ({ what, id, why });
    return [
      ...own.replies.flatMap((reply) =>
        flawsOf(reply, message, circumstances).map(find(isAck(reply) ? 'wrong acknowledgement' : 'wrong notification')),
      ),
      ...repeatedReplies(own.replies, explanations, history.refused.has(id) || isTroubled).map(
        find('wrong acknowledgement'),
      ),
      ...own.lines.flatMap((line) => flawsOfLine(line, message, own.calls)).map(find('uncounted')),
      ...(letters.get(id) ?? [])
        .flatMap((letter) => flawsOfLetter(letter, message, own, circumstances.places))
        .map(find('state')),
    ];
  });
}

const markOf = (properties: string): string => JSON.parse(properties).quantity;

/** Reasons for which a reply is tried for as long as it may wait before it is dropped (C4). */
const isPassing = new Set(['throttled', 'unanswered', 'not_taken', 'hub_unavailable']);

function flawsOfLine(line: Line, { deviceId, ack, properties }: Message, calls: readonly BackendCall[]): string[] {
  const { fields } = line;
  const flaws: string[] = [];
  const compare = (name: string, due: unknown) => {
    if (fields[name] !== due) flaws.push(`its line has ${name} ${fields[name]} instead of ${due}`);
  };
  compare('device', deviceId);
  compare('message', properties['action'] ?? properties['eventType']);
  compare('ack', ack);
  const traceIds = new Set(calls.map(({ headers }) => headers['traceparent']?.split('-')[1]));
  if (traceIds.size > 0) compare('traceId', [...traceIds].join());
  for (const reason of line.reasons) {
    const waitedMs = Number(fields['repliesMs']);
    if (isPassing.has(reason) && waitedMs < patienceSeconds * 1_000)
      flaws.push(`a reply was dropped (${reason}) after ${waitedMs} ms instead of ${patienceSeconds} s`);
  }
  return flaws;
}

function flawsOfLetter(
  { deviceId, code, event, origin, attempts, traceparent }: DeadLetter,
  message: Message,
  { calls, lines }: { readonly calls: readonly BackendCall[]; readonly lines: readonly Line[] },
  places: readonly Place[],
): string[] {
  const flaws: string[] = [];
  const { sequenceNumber, enqueuedTimeUtc } = event;
  const place = { ...origin, sequenceNumber, enqueuedTime: Date.parse(enqueuedTimeUtc) };
  if (!places.some((one) => isDeepStrictEqual(one, place)))
    flaws.push(`its dead letter comes from ${JSON.stringify(place)}, where it never stood`);
  if (attempts !== 1) flaws.push(`its dead letter was parked ${attempts} times, and nobody has replayed it`);
  const traces = new Set(calls.map(({ headers }) => headers['traceparent']));
  if (traces.size > 0 && !traces.has(traceparent)) flaws.push('its dead letter has the trace of no attempt');
  const body = event.isText ? Buffer.from(event.body) : Buffer.from(event.body, 'base64');
  if (deviceId !== message.deviceId) flaws.push(`its dead letter is of ${deviceId}`);
  if (!ourFault.has(code)) flaws.push(`a dead letter for ${code}`);
  if (!body.equals(message.body)) flaws.push('its dead letter has another body');
  if (!isDeepStrictEqual(event.properties, { ...message.properties }))
    flaws.push('its dead letter has other properties');
  if (lines.length > 0 && !lines.some((line) => ourFault.has(line.code)))
    flaws.push('it is among the dead letters, and has not failed through our side');
  return flaws;
}
