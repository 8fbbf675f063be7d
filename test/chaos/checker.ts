import { grouped } from '../support/observed.ts';
import { createCourse, type Due, type Observation } from './course.ts';
import type { Handled, History, Sent, Subject, Told } from './history.ts';
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

/** A message whose trace comes after that of one which was sent later. */
export type Inversion = Readonly<{ id: string; after: string }>;

/** What comes first for a message must not come after what came first for a later one of the same device (G2). */
function inversions(sent: readonly Sent[], events: readonly { readonly id: string }[]): Inversion[] {
  const places = new Map(sent.map((one, index) => [one.id, { deviceId: one.deviceId, index }]));
  const latest = new Map<string, { id: string; index: number }>();
  const seen = new Set<string>();
  const found: Inversion[] = [];
  for (const { id } of events) {
    const place = places.get(id);
    if (place === undefined || seen.has(id)) continue;
    seen.add(id);
    const before = latest.get(place.deviceId);
    if (before && before.index > place.index) found.push({ id, after: before.id });
    else latest.set(place.deviceId, { id, index: place.index });
  }
  return found;
}

type Find = (what: 'lost' | 'wrong acknowledgement' | 'wrong notification' | 'uncounted', why: string) => void;

/** P1 */
const isWanted = ({ ack }: Sent, code: string | undefined): boolean =>
  ack === 'all' || ack === (code === 'ok' ? 'positive' : 'negative');

function checkAcknowledgements(one: Traces, { codes, notices }: Due, find: Find): void {
  const { sent, told, handled, hasFailed, isRefused } = one;
  const acks = told.filter(({ about }) => about === undefined);
  // C4: fails when a notification that it asked for cannot be delivered
  const isUndelivered = sent.intent.does === 'fetch' && notices.length > 0 && isRefused && hasDropped(one);
  const isRight = (code = '') =>
    codes.includes(code) || (hasFailed && ourFault.has(code)) || (isUndelivered && code === 'delivery_failed');
  for (const { code, success } of acks) {
    if (!isRight(code) || success !== (code === 'ok'))
      find('wrong acknowledgement', `${code} (success ${success}) instead of ${codes.join(' or ') || 'none'}`);
    else if (!isWanted(sent, code)) find('wrong acknowledgement', `${code}, and none was wanted`);
  }
  for (const { code } of handled) if (!isRight(code)) find('wrong acknowledgement', `${code} in the log`);
  for (const same of grouped(acks, ({ code }) => code).values()) oneId(same, 'wrong acknowledgement', find);

  const expected = handled.length > 0 ? handled.map(({ code }) => code) : codes;
  if (acks.length > 0 || !expected.some((code) => isWanted(sent, code))) return;
  if (handled.length === 0) find('lost', 'never acknowledged');
  else if (!hasDropped(one)) find('wrong acknowledgement', 'missing, and not counted as dropped');
  else if (!isRefused) find('wrong acknowledgement', 'dropped, and the hub had not refused it');
}

function checkNotifications(one: Traces, { notices }: Due, observation: Observation, find: Find): void {
  const { told, handled, isStruck, isRefused, isParted, hasFailed } = one;
  const seen = told.filter(hasSubject);
  const fits = (about: Subject, { object, model }: Due['notices'][number]) =>
    about.model === model && (object ?? about.object) === about.object;
  // A repeat tells what is stored by then; and what failed before may have come late, or not yet.
  const isVague = handled.length > 1 || isParted || observation.isUncertain();

  for (const { about } of seen) {
    const notice = notices.find((each) => fits(about, each));
    if (isVague) continue;
    if (notice === undefined) find('wrong notification', `of ${textOf(about)}, which is not due`);
    else if (about.version !== notice.version)
      find('wrong notification', `of ${textOf(about)} with version ${about.version} instead of ${notice.version}`);
    else if (about.isNew !== notice.isNew && !isStruck)
      find('wrong notification', `of ${textOf(about)} as ${about.isNew ? 'new' : 'known'}, which it was not`);
  }
  const kinds = [...grouped(seen, ({ about }) => textOf(about)).values()];
  for (const same of kinds) oneId(same, 'wrong notification', find);

  // A failure may have been told before, by who could not park the message (G4).
  const acknowledged = told.findIndex(({ about, code }) => about === undefined && code === handled[0]?.code);
  const isLate = ([first]: Told[]) => first !== undefined && told.indexOf(first) > acknowledged;
  if (acknowledged >= 0 && !isRefused && handled.length === 1 && kinds.some(isLate)) {
    find('wrong notification', 'comes after the acknowledgement'); // A12
  }

  if (hasFailed) return;
  const isLeftOut = isStruck && handled.some(({ remarks }) => remarks > 0); // A11
  for (const notice of notices) {
    if (seen.some(({ about }) => fits(about, notice))) continue;
    if (isLeftOut && notice.model === 'svc.configuration') continue;
    if (one.sent.intent.does === 'fetch' && observation.isUncertain()) continue;
    const what = `a notification of ${textOf(notice)} is missing`;
    if (!hasDropped(one)) find('uncounted', `${what}, and not counted`);
    else if (!isRefused) find('uncounted', `${what}, and the hub had not refused it`);
  }
}

const hasSubject = (reply: Told): reply is Told & { about: Subject } => reply.about !== undefined;

const textOf = ({ object = '(its own)', model }: { object?: string | undefined; model: string }) =>
  `${model} of ${object}`;

/** C1: what is said again has the id it had. */
function oneId(same: readonly Told[], what: 'wrong acknowledgement' | 'wrong notification', find: Find): void {
  const ids = new Set(same.map(({ messageId }) => messageId));
  if (ids.size > 1) find(what, `told again under another message id: ${[...ids].join(', ')}`);
}
