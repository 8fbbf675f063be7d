import { isDeepStrictEqual } from 'node:util';
import { checkHeaders } from './headers.ts';
import { handle } from './model/handle.ts';
import type { Answer, Call, Sent, Step } from './model/steps.ts';
import { compareReply } from './replies.ts';
import type { Seen, SeenCall } from './seen.ts';

/** Where the service did something else than the model. */
class Difference extends Error {}

/** Walks through what was done for a device, message by message; throws `Difference` at the first that is not as it should be. */
export function follow(
  deviceId: string,
  messages: readonly Sent[],
  course: readonly Seen[],
  calls: readonly SeenCall[],
): void {
  const left = [...course];
  messages.forEach((sent, index) => {
    const own: SeenCall[] = [];
    let step: Step | undefined;
    try {
      const handling = handle(sent, deviceId);
      for (let next = handling.next({ status: 0, body: '' }); !next.done; next = handling.next(take(next.value))) {
        step = next.value;
      }
      checkHeaders(sent, deviceId, own);
    } catch (error) {
      const place = [
        `message ${index} of ${deviceId}: ${describe(sent)}`,
        ...own.map(briefCall),
        print(step),
        'seen next:',
        ...left.slice(0, 3).map(brief),
      ];
      throw new Difference(`${error instanceof Error ? error.message : error}\n${place.join('\n')}`);
    }

    function take(wanted: Step): Answer {
      step = wanted;
      const at = indexOf(wanted);
      if ('reply' in wanted) {
        const [seen] = left.splice(at, 1);
        if (seen?.kind !== 'reply') throw new Error('a reply is missing');
        compareReply(wanted.reply, seen.reply);
        return { status: 0, body: '' };
      }
      const seen = left[at];
      if (seen?.kind === 'call' && isThat(wanted.call, seen.call)) {
        left.splice(at, 1);
        own.push(seen.call);
        return answerOf(seen.call);
      }
      const known = wanted.isKnown ? calls.findLast((call) => isThat(wanted.call, call)) : undefined;
      if (known === undefined) throw new Error('a call is missing, or is another one');
      return answerOf(known);
    }
  });
  if (left.length > 0) throw new Difference(`${deviceId}: more was done: ${left.map(brief).join('\n')}`);

  /** Where it is: next, or further on among its kind when they have no order. */
  function indexOf(wanted: Step): number {
    if (!wanted.isUnordered) return 0;
    const kind = 'reply' in wanted ? 'reply' : 'call';
    const end = left.findIndex((seen) => seen.kind !== kind);
    const some = left.slice(0, end < 0 ? left.length : end);
    return Math.max(
      0,
      some.findIndex((seen) => isMeant(wanted, seen)),
    );
  }
}

function isMeant(wanted: Step, seen: Seen): boolean {
  if ('call' in wanted) return seen.kind === 'call' && isThat(wanted.call, seen.call);
  const { body } = wanted.reply;
  return seen.kind === 'reply' && 'text' in body && seen.reply.body.toString() === body.text;
}

function isThat(wanted: Call, { method, segments, query, body }: SeenCall): boolean {
  const isSame = (text: string | RegExp, index: number) =>
    typeof text === 'string' ? text === segments[index] : text.test(segments[index] ?? '');
  return (
    method === wanted.method &&
    segments.length === wanted.path.length &&
    wanted.path.every(isSame) &&
    isDeepStrictEqual(query, wanted.query ?? {}) &&
    (typeof wanted.body === 'function' ? wanted.body(body) : body === (wanted.body ?? ''))
  );
}

function answerOf({ status, answer }: SeenCall): Answer {
  if (status === null) throw new Error('a backend gave no answer');
  return { status, body: answer ?? '' };
}

const print = (value: unknown): string =>
  (
    JSON.stringify(value, (_, one) => (one instanceof RegExp || typeof one === 'function' ? String(one) : one)) ?? ''
  ).slice(0, 1000);
const cut = (text: string | null): string => (text ?? '').slice(0, 400);
const describe = ({ properties, body }: Sent): string => `${print(properties)} ${cut(body.toString())}`;
const briefCall = ({ method, path, body, status, answer }: SeenCall): string =>
  `  ${method} ${path} ${cut(body)} → ${status} ${cut(answer)}`;
const brief = (seen: Seen): string =>
  seen.kind === 'call' ? briefCall(seen.call) : `  ${print(seen.reply.properties)} ${cut(seen.reply.body.toString())}`;
