import { grouped } from './grouped.ts';
import type { Handled, History, Intent, Sent, State, Told } from './history.ts';

/** Something in a history that the guarantees rule out. */
export interface Finding {
  readonly what: 'lost' | 'inverted' | 'duplicated' | 'wrong acknowledgement' | 'uncounted' | 'state';
  readonly id: string;
  readonly why: string;
}

/** What one message has come to. */
interface Traces {
  readonly sent: Sent;
  readonly effects: number;
  readonly acks: readonly Told[];
  readonly notifications: readonly Told[];
  readonly handled: readonly Handled[];
}

/** What a device's messages have come to so far, each after the other. */
interface Course {
  readonly versions: Map<string, number>;
  readonly marks: Map<string, string>;
  readonly anonymous: string[];
  identity: string | undefined;
  /** A message that failed through our side may or may not have changed the identity, and early or late. */
  isIdentityOpen: boolean;
}

/** Codes that say nothing of the message: they are right when the faults explain them. */
const ourFault = new Set(['timeout_exceeded', 'internal_platform_error']);

/** Holds a history against the guarantees G1 to G4: one finding for each breach, none when all is well. */
export function check(history: History): Finding[] {
  const findings: Finding[] = [];
  const traces = tracesOf(history);
  for (const messages of byDevice(traces).values()) {
    const course: Course = {
      versions: new Map(),
      marks: new Map(),
      anonymous: [],
      identity: undefined,
      isIdentityOpen: false,
    };
    for (const one of messages) findings.push(...checkOne(one, course, history));
    const deviceId = messages[0]?.sent.deviceId ?? '';
    findings.push(...checkState(deviceId, course, history.state.get(deviceId)));
  }
  findings.push(...inversions(history.sent, history.effects, 'effect'));
  const acks = history.told.filter(({ kind }) => kind === 'acknowledgement');
  findings.push(...inversions(history.sent, acks, 'acknowledgement'));
  const repeats = history.handled.length - new Set(history.handled.map(({ id }) => id)).size;
  if (repeats > history.mostRepeats) {
    findings.push({
      what: 'duplicated',
      id: '',
      why: `${repeats} handled again, ${history.mostRepeats} are the bound`,
    });
  }
  return findings;
}

function tracesOf({ sent, effects, told, handled }: History): Traces[] {
  const effectsOf = grouped(effects, ({ id }) => id);
  const toldOf = grouped(told, ({ id }) => id);
  const handledOf = grouped(handled, ({ id }) => id);
  return sent.map((one) => {
    const replies = toldOf.get(one.id) ?? [];
    return {
      sent: one,
      effects: new Set(effectsOf.get(one.id)?.map(({ key }) => key)).size,
      acks: replies.filter(({ kind }) => kind === 'acknowledgement'),
      notifications: replies.filter(({ kind }) => kind === 'notification'),
      handled: handledOf.get(one.id) ?? [],
    };
  });
}

const byDevice = (traces: readonly Traces[]) => grouped(traces, ({ sent }) => sent.deviceId);

/** How many changes the message must make now, and what its code must be. */
function due(intent: Intent, { versions }: Course): { effects: number; code: string | undefined } {
  if (intent.does === 'nothing') return { effects: 0, code: intent.code };
  if (intent.does !== 'replace') return { effects: 1, code: 'ok' };
  const stored = versions.get(intent.object);
  if (stored === undefined || intent.version < stored) return { effects: 0, code: 'http_response_error' };
  return { effects: intent.version + 1 - stored, code: 'ok' }; // A4: also makes up for what is missing
}

function checkOne(one: Traces, course: Course, history: History): Finding[] {
  const { sent, effects, acks, notifications, handled } = one;
  const { effects: wanted, code } = due(sent.intent, course);
  const findings: Finding[] = [];
  const find = (what: Finding['what'], why: string) => findings.push({ what, id: sent.id, why });
  const codes = new Set([...acks.map((ack) => ack.code ?? ''), ...handled.map((line) => line.code)]);
  const hasFailed = history.struck.has(sent.id) && [...codes].some((each) => ourFault.has(each));

  if (effects > wanted) find('duplicated', `${effects} changes instead of ${wanted}`);
  if (effects < wanted && !hasFailed) find('lost', `${effects} changes instead of ${wanted}`);
  proceed(sent, effects, hasFailed, course);

  const isRight = (each: string | undefined) => each === code || (hasFailed && ourFault.has(each ?? ''));
  for (const ack of acks) {
    if (!isRight(ack.code) || ack.success !== (ack.code === 'ok')) {
      find('wrong acknowledgement', `${ack.code} (success ${ack.success}) instead of ${code}`);
    } else if (!isWanted(sent, ack.code)) find('wrong acknowledgement', `${ack.code}, and none was wanted`);
  }
  for (const told of grouped(acks, (ack) => ack.code).values()) {
    const ids = new Set(told.map(({ messageId }) => messageId));
    if (ids.size > 1) find('wrong acknowledgement', `told again under another message id: ${[...ids].join(', ')}`);
  }
  const mayBeSilent = hasFailed && !isWanted(sent, 'internal_platform_error');
  if (code !== undefined && acks.length === 0 && isWanted(sent, code) && !mayBeSilent) {
    const isCounted = handled.some(({ dropped }) => dropped > 0);
    if (handled.length === 0) find('lost', 'never acknowledged');
    else if (!isCounted) find('wrong acknowledgement', 'missing, and not counted as dropped');
    else if (!history.refused.has(sent.id)) find('wrong acknowledgement', 'dropped, and the hub had not refused it');
  }
  if (sent.intent.does === 'create' && sent.intent.object !== undefined && notifications.length === 0 && !hasFailed) {
    const isLeftOut = history.struck.has(sent.id) && handled.some(({ remarks }) => remarks > 0); // D8
    if (!isLeftOut && !handled.some(({ dropped }) => dropped > 0)) {
      find('uncounted', 'a notification is missing, and not counted');
    }
  }
  if (handled.some((line) => ourFault.has(line.code)) && !history.parked.has(sent.id)) {
    find('lost', 'failed through our side, and is not among the dead letters');
  }
  return findings;
}

function proceed({ id, intent }: Sent, effects: number, hasFailed: boolean, course: Course): void {
  if (intent.does === 'identify') {
    if (hasFailed) course.isIdentityOpen = true;
    else if (effects > 0) course.identity = id;
  }
  if (effects === 0) return;
  if (intent.does === 'create' && intent.object === undefined) course.anonymous.push(id);
  if (intent.does === 'create' && intent.object !== undefined) course.versions.set(intent.object, 1);
  if (intent.does === 'replace') {
    course.versions.set(intent.object, (course.versions.get(intent.object) ?? 0) + effects);
  }
  if ('object' in intent && intent.object !== undefined) course.marks.set(intent.object, id);
}

/** P1 */
function isWanted({ ack }: Sent, code: string | undefined): boolean {
  return ack === 'all' || ack === (code === 'ok' ? 'positive' : 'negative');
}

/** What is stored must be what handling each message once, in order, would have left. */
function checkState(deviceId: string, course: Course, state: State | undefined): Finding[] {
  const findings: Finding[] = [];
  const find = (why: string) => findings.push({ what: 'state', id: deviceId, why });
  for (const [object, version] of course.versions) {
    const stored = state?.objects[object];
    if (stored?.version !== version) find(`object ${object} has version ${stored?.version} instead of ${version}`);
    else if (stored.mark !== course.marks.get(object)) find(`object ${object} was last written by ${stored.mark}`);
  }
  const anonymous = [...(state?.anonymous ?? [])].sort().join(' ');
  if (anonymous !== course.anonymous.sort().join(' ')) find(`other objects than its messages have made: ${anonymous}`);
  if (!course.isIdentityOpen && state?.identity !== course.identity) {
    find(`its identity was last written by ${state?.identity} instead of ${course.identity}`);
  }
  return findings;
}

/** What comes first for a message must not come after what came first for a later one of the same device (G2). */
function inversions(sent: readonly Sent[], events: readonly { readonly id: string }[], word: string): Finding[] {
  const places = new Map(sent.map((one, index) => [one.id, { deviceId: one.deviceId, index }]));
  const latest = new Map<string, { id: string; index: number }>();
  const seen = new Set<string>();
  const findings: Finding[] = [];
  for (const { id } of events) {
    const place = places.get(id);
    if (place === undefined || seen.has(id)) continue;
    seen.add(id);
    const before = latest.get(place.deviceId);
    if (before && before.index > place.index) {
      findings.push({
        what: 'inverted',
        id,
        why: `its ${word} comes after that of ${before.id}, which was sent later`,
      });
    } else latest.set(place.deviceId, { id, index: place.index });
  }
  return findings;
}
