import { grouped } from '../support/observed.ts';
import type { Due, Observation } from './course.ts';
import type { Sent, Subject, Told } from './history.ts';
import { hasDropped, ourFault, type Traces } from './traces.ts';

type Find = (what: 'lost' | 'wrong acknowledgement' | 'wrong notification' | 'uncounted', why: string) => void;

/** P1 */
const isWanted = ({ ack }: Sent, code: string | undefined): boolean =>
  ack === 'all' || ack === (code === 'ok' ? 'positive' : 'negative');

export function checkAcknowledgements(one: Traces, { codes, notices }: Due, find: Find): void {
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

export function checkNotifications(one: Traces, { notices }: Due, observation: Observation, find: Find): void {
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
