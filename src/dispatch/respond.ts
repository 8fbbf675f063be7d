import type { Card, Outcome } from '../card/card.ts';
import type { MessageCharge } from '../engine/charge.ts';
import type { MessageContext } from '../engine/work.ts';
import type { Sender } from '../hub/replies/sender.ts';
import type { MessageObservation } from '../observing/messageRecords.ts';
import { type Envelope, wantsAck } from '../protocol/envelope.ts';
import type { ReceivedMessage } from '../protocol/event.ts';
import type { Json } from '../protocol/json.ts';
import { listed, Rejection } from '../protocol/rejection.ts';
import { acknowledge, maxReplyBytes, type Notification, notify, type Reply } from '../protocol/reply.ts';
import type { Delivery } from '../protocol/vocabulary.ts';

export interface Message {
  readonly receivedMessage: ReceivedMessage;
  readonly context: MessageContext;
  readonly observation: MessageObservation;
  readonly envelope: Envelope;
  readonly card: Card | undefined;
  json?: Json | undefined;
  /** The members that could be read. */
  body?: unknown;
  /** Absent when the card has thrown or did not run. */
  outcome?: Outcome;
  failure: Rejection | undefined;
}

export interface AnswerOptions {
  readonly sender: Pick<Sender, 'send'>;
  readonly now: () => Date;
  /** Called before each step with an effect outside the process; it may end the handling of messages. */
  readonly beforeEffect?: (() => void) | undefined;
}

class Revoked extends Error {}

/**
 * Sends the notifications, then the acknowledgement if the device wants one (A12). It may say that a notification was not delivered.
 * @returns undefined when this instance no longer handles the message before the hub has settled every reply to the device
 */
export async function answer(message: Message, { sender, now, beforeEffect }: AnswerOptions) {
  const { envelope, observation, outcome } = message;
  const { charge, ended } = message.context;
  const beginChain = createChains(charge);
  const own = beginChain();
  /** Their results, or what went wrong. */
  const elsewhere: Promise<unknown>[] = [];

  async function send(reply: Reply, chain: typeof own): Promise<Delivery> {
    beforeEffect?.();
    if (ended.aborted) throw new Revoked();
    const replyObservation = observation.reply(reply);
    let slept = false;
    const delivery = await sender.send(reply, ended, {
      waits(what) {
        if (what === 'hub') chain.wakes();
        replyObservation.waits(what);
      },
      refused: replyObservation.refused,
      sleeps(giveUp) {
        slept = true;
        replyObservation.sleeps();
        chain.sleeps(giveUp);
      },
    });
    chain.wakes();
    if (slept) charge.aside(); // a place among those being answered, if there is one: what is left may be much
    replyObservation.ended(delivery);
    if (delivery === 'stopped') throw new Revoked();
    return delivery;
  }

  function sendElsewhere(notification: Notification) {
    const chain = beginChain();
    const sent = send(notify(envelope, notification), chain).finally(() => {
      chain.end();
      charge.shrink(notification.body.length);
    });
    elsewhere.push(sent.catch((error: unknown) => error));
  }

  /** Returns false when this instance no longer handles the message before the replies to other devices are settled. */
  async function settledElsewhere(): Promise<boolean> {
    own.end();
    const errors = (await Promise.all(elsewhere)).filter((result) => result instanceof Error);
    const failed = errors.find((error) => !(error instanceof Revoked));
    if (failed !== undefined) throw failed;
    return errors.length === 0;
  }

  /** @returns the failure of a request whose notifications must be delivered, if one to its device was not (C3, C4) */
  async function sendNotifications(notifications: Notification[]): Promise<Rejection | undefined> {
    const tooLarge: string[] = [];
    for (let notification = notifications.shift(); notification !== undefined; notification = notifications.shift()) {
      if (notification.deviceId !== envelope.deviceId) {
        sendElsewhere(notification); // its result changes nothing for the sender (A12)
        continue;
      }
      const delivery = await send(notify(envelope, notification), own);
      charge.shrink(notification.body.length); // it is not kept any more
      if (!outcome?.mustDeliver || delivery === 'delivered' || delivery === 'stopped') continue;
      if (delivery.dropped !== 'too_large')
        return new Rejection('delivery_failed', 'a notification could not be handed to the hub');
      tooLarge.push(`${notification.model} of ${notification.objectId}`);
    }
    if (tooLarge.length === 0) return undefined;
    const why = `larger than the hub's ${maxReplyBytes} bytes, and therefore not sent: ${listed(tooLarge)}`;
    return new Rejection('response_too_large', why); // the other notifications have been sent (A10)
  }

  try {
    const undelivered = outcome && (await sendNotifications(outcome.notifications));
    if (undelivered) message.failure = undelivered;
    if (wantsAck(envelope.ack, message.failure === undefined)) {
      await send(acknowledge(envelope, resultOf(message), now()), own);
    }
    return { settledElsewhere: elsewhere.length === 0 ? undefined : settledElsewhere };
  } catch (error) {
    await settledElsewhere();
    if (error instanceof Revoked) return undefined;
    throw error;
  }
}

function resultOf({ envelope, card, body, json, outcome, failure }: Message) {
  const echo = card?.echo(envelope.properties, body, json);
  return {
    success: failure === undefined,
    code: failure?.code ?? 'ok',
    details: failure?.details ?? '',
    fields: { ...echo?.fields, ...outcome?.fields },
    properties: { ...echo?.properties, ...outcome?.properties },
    detailsKey: card?.detailsKey ?? 'details',
  } as const;
}

/** A chain: replies that are sent one after the other (A12). The message sleeps while every chain that is left waits for a full queue (C4). */
function createChains(charge: Pick<MessageCharge, 'sleeps' | 'wakes'>) {
  let open = 0;
  let isAsleep = false;
  const givingUp = new Map<object, () => void>();

  function look() {
    const wasAsleep = isAsleep;
    isAsleep = open > 0 && givingUp.size === open;
    if (isAsleep && !wasAsleep)
      charge.sleeps(() => {
        for (const giveUp of [...givingUp.values()]) giveUp();
      });
    if (!isAsleep && wasAsleep) charge.wakes();
  }

  return () => {
    const chain = {
      sleeps(giveUp: () => void) {
        givingUp.set(chain, giveUp);
        look();
      },
      /** Its reply is tried again, or is settled. */
      wakes() {
        if (givingUp.delete(chain)) look();
      },
      end() {
        open -= 1;
        look();
      },
    };
    open += 1;
    look();
    return chain;
  };
}
