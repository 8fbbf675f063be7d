import type { Card, Outcome } from '../card/card.ts';
import type { Delivery, ReplyObserver, Sender } from '../hub/replies/sender.ts';
import type { DropReason } from '../hub/replies/sendFailure.ts';
import { acknowledge } from '../protocol/acknowledgement.ts';
import { maxReplyBytes, type Reply } from '../protocol/c2d.ts';
import { listed } from '../protocol/details.ts';
import { type Envelope, wantsAck } from '../protocol/envelope.ts';
import type { Json } from '../protocol/json.ts';
import { notify } from '../protocol/notification.ts';
import { Rejection } from '../protocol/rejection.ts';
import type { Steps } from '../tap/steps.ts';
import type { Span } from '../tracing/span.ts';
import { beginReplySpan } from './replySpan.ts';
import { beginReplyStep } from './replyStep.ts';

/** A message after its handling or its rejection. */
export interface Handled {
  readonly envelope: Envelope;
  readonly card: Card | undefined;
  /** The members that could be read. */
  readonly body: unknown;
  readonly json: Json | undefined;
  /** Undefined when the card has thrown or did not run. */
  readonly outcome: Outcome | undefined;
  readonly failure: Rejection | undefined;
}

interface AnswerOptions {
  /** For traces. */
  readonly span?: Span | undefined;
  /** For operators. */
  readonly steps?: Steps | undefined;
  /** Called before each reply; it may abort `ended`. */
  readonly beforeEffect?: (() => void) | undefined;
}

/** The replies to the device. */
export interface Answered {
  /** Why the request failed; an undelivered notification can be the reason. */
  readonly failure: Rejection | undefined;
  /** Number of replies that the hub has accepted. */
  readonly sent: number;
  readonly dropped: readonly { readonly kind: Reply['kind']; readonly device: string; readonly reason: DropReason }[];
}

class Revoked extends Error {}

/**
 * Sends the notifications, then the acknowledgement if the device wants one (A12).
 * @param ended aborted when this instance no longer handles the message
 * @returns undefined when that happens before the hub has settled every reply
 */
export async function answer(
  handled: Handled,
  sender: Pick<Sender, 'send'>,
  ended: AbortSignal,
  now: Date,
  { span, steps, beforeEffect }: AnswerOptions = {},
): Promise<Answered | undefined> {
  const { envelope, outcome } = handled;
  const dropped: Answered['dropped'][number][] = [];
  let sent = 0;

  async function send(reply: Reply): Promise<Delivery> {
    beforeEffect?.();
    if (ended.aborted) throw new Revoked();
    const replySpan = span && beginReplySpan(span, reply);
    const step = beginReplyStep(steps, reply);
    const delivery = await sender.send(reply, ended, replySpan === undefined ? step : both(step, replySpan));
    step.end(delivery);
    replySpan?.end(delivery);
    if (delivery === 'stopped') throw new Revoked();
    if (delivery === 'delivered') sent += 1;
    else dropped.push({ kind: reply.kind, device: reply.deviceId, reason: delivery.dropped });
    return delivery;
  }

  /** @returns the failure of a request whose notifications must be delivered, if one was not (C3, C4) */
  async function sendNotifications(notifications: readonly Reply[]): Promise<Rejection | undefined> {
    const tooLarge: string[] = [];
    for (const notification of notifications) {
      const delivery = await send(notification);
      if (!outcome?.mustDeliver || delivery === 'delivered' || delivery === 'stopped') continue;
      if (delivery.dropped !== 'too_large') {
        return new Rejection('delivery_failed', 'a notification could not be handed to the hub');
      }
      const { model, objectId } = notification.properties;
      tooLarge.push(`${model} of ${objectId}`);
    }
    return tooLarge.length === 0 ? undefined : notSent(tooLarge);
  }

  try {
    const notifications = (outcome?.notifications ?? []).map((one) => notify(envelope, one));
    const undelivered = notifications.length === 0 ? undefined : await sendNotifications(notifications);
    const failure = undelivered ?? handled.failure;
    if (wantsAck(envelope.ack, failure === undefined)) {
      await send(acknowledge(envelope, resultOf({ ...handled, failure }), now));
    }
    return { failure, sent, dropped };
  } catch (error) {
    if (error instanceof Revoked) return undefined;
    throw error;
  }
}

const both = ({ waits, refused }: ReplyObserver, span: Pick<ReplyObserver, 'refused'>): ReplyObserver => ({
  waits,
  refused(reason) {
    refused(reason);
    span.refused(reason);
  },
});

/** The other notifications have been sent (A10). */
const notSent = (models: readonly string[]): Rejection =>
  new Rejection(
    'response_too_large',
    `larger than the hub's ${maxReplyBytes} bytes, and therefore not sent: ${listed(models)}`,
  );

function resultOf({ envelope, card, body, json, outcome, failure }: Handled) {
  const echo = card?.echo(envelope.properties, body, json);
  return {
    success: failure === undefined,
    code: failure?.code ?? 'ok',
    details: failure?.details ?? '',
    fields: { ...echo?.fields, ...outcome?.fields, ...failure?.fields },
    properties: { ...echo?.properties, ...outcome?.properties },
    detailsKey: card?.detailsKey ?? 'details',
  } as const;
}
