import { randomBytes, randomUUID } from 'node:crypto';
import type { Backends } from './backends/backends.ts';
import { createDeadline } from './backends/deadline.ts';
import type { Sender } from './hub/sender.ts';
import type { DropReason } from './hub/serviceConnection.ts';
import type { Log } from './log.ts';
import type { Card, CardLimits, Outcome } from './messages/card.ts';
import { findCard } from './messages/index.ts';
import type { Counters } from './operations/counters.ts';
import { acknowledge } from './protocol/acknowledgement.ts';
import { decodeBody, readBody } from './protocol/body.ts';
import { fits, maxReplyBytes, type Reply } from './protocol/c2d.ts';
import { createEnvelopeReader, type Envelope, type EnvelopeLimits, invalid, wantsAck } from './protocol/envelope.ts';
import { eventId, type Generation, type HubEvent, type Origin } from './protocol/event.ts';
import { faultsOf } from './protocol/fields.ts';
import { notify } from './protocol/notification.ts';
import { textProperties } from './protocol/properties.ts';
import { Rejection } from './rejection.ts';

/** A message of ours, attributed to the device that sent it. */
export interface Arrival {
  readonly event: HubEvent;
  readonly generation: Generation;
  readonly deviceId: string;
  readonly origin: Origin;
}

interface DispatchOptions {
  readonly backends: Backends;
  readonly sender: Sender;
  readonly counters: Counters;
  readonly log: Log;
  readonly limits: EnvelopeLimits & CardLimits & { readonly maxInflatedBytes: number };
  readonly now: () => Date;
}

/**
 * Event → request → card → replies → one log line. Never rejects; answers whether the message has been handled to its
 * end, replies included. It has not when the service stops first: then the message must not be checkpointed (G1).
 * @param charge adds to the bytes in work: a compressed body that has been inflated (R6)
 */
export type Dispatch = (arrival: Arrival, charge: (bytes: number) => void) => Promise<boolean>;

export function createDispatch({ backends, sender, counters, log, limits, now }: DispatchOptions): Dispatch {
  const readEnvelope = createEnvelopeReader(limits);

  async function handle(
    card: Card | undefined,
    envelope: Envelope,
    { event }: Arrival,
    charge: (bytes: number) => void,
    heard: (body: unknown) => void,
  ): Promise<Outcome> {
    const { generation, properties } = envelope;
    if (card === undefined) {
      throw new Rejection(
        'operation_not_supported',
        `${generation === 'V2' ? 'action' : 'eventType'} is not one of this service`,
      );
    }
    const headers = card.headers.safeParse(properties);
    if (!headers.success) throw new Rejection(invalid(generation), faultsOf(headers.error, 'property'));

    const bytes = await decodeBody(event.body, generation, properties['content-encoding'], limits.maxInflatedBytes);
    if (bytes !== event.body) charge(bytes.byteLength);
    if (bytes.byteLength > card.maxBodyBytes) {
      throw new Rejection(invalid(generation), `body has ${bytes.byteLength} bytes; the limit is ${card.maxBodyBytes}`);
    }
    const json = readBody(bytes, generation);
    heard(json.value);
    const twice = json.duplicates.filter((path) => card.reads.includes(path));
    if (twice.length > 0)
      throw new Rejection(invalid(generation), twice.map((path) => `body.${path} occurs twice`).join('; '));
    const body = card.body?.safeParse(json.value);
    if (body?.success === false) throw new Rejection(invalid(generation), faultsOf(body.error, 'body'));

    const call = {
      deviceId: envelope.deviceId,
      correlationId: envelope.correlationId ?? envelope.eventId,
      traceparent: `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`,
      idempotencySeed: envelope.eventId,
      deadline: createDeadline(envelope.timeoutSeconds),
    };
    return card.handle({ envelope, headers: headers.data, json, body: body?.data }, backends.bind(call), limits);
  }

  /** Whatever else goes wrong is ours, and the device learns only where to find it in the log. */
  function rejectionOf(error: unknown, { deviceId }: Arrival): Rejection {
    if (error instanceof Rejection) return error;
    const incident = randomUUID();
    log.error({ err: error, incident, device: deviceId }, 'unforeseen failure');
    return new Rejection('internal_platform_error', `incident ${incident}`);
  }

  async function answer(arrival: Arrival, charge: (bytes: number) => void): Promise<boolean> {
    const { event, generation, deviceId, origin } = arrival;
    const id = eventId(event, origin, deviceId);
    const { envelope, refusal } = readEnvelope(generation, textProperties(event.properties ?? {}), deviceId, id);
    const card = envelope.name === undefined ? undefined : findCard(generation, envelope.name);

    if (card && !refusal) {
      const outage = backends.ready(card.needs); // B5: the clock of a waiting message does not run
      if (outage && !(await outage)) return false;
    }

    const began = performance.now();
    let body: unknown;
    let outcome: Outcome | undefined;
    let failure = refusal;
    if (failure === undefined) {
      try {
        outcome = await handle(card, envelope, arrival, charge, (value) => {
          body = value;
        });
        failure = outcome.failure;
      } catch (error) {
        failure = rejectionOf(error, arrival);
      }
    }
    const handledMs = performance.now() - began;

    const dropped: { kind: Reply['kind']; device: string; reason: DropReason }[] = [];
    let sent = 0;
    /** False when the service stops before it is decided whether the hub takes the reply. */
    async function send(reply: Reply): Promise<boolean> {
      const delivery = await sender.send(reply);
      if (delivery === 'delivered') sent += 1;
      else if (delivery !== 'stopped')
        dropped.push({ kind: reply.kind, device: reply.deviceId, reason: delivery.dropped });
      return delivery !== 'stopped';
    }

    const notifications = (outcome?.notifications ?? []).map((one, index) => notify(envelope, one, index));
    const mustDeliver = outcome?.mustDeliver ?? false;
    if (mustDeliver && !notifications.every(fits)) {
      failure = new Rejection(
        'response_too_large',
        `a notification is larger than the hub's limit of ${maxReplyBytes} bytes`,
      );
    } else {
      for (const notification of notifications) {
        if (!(await send(notification))) return false;
        if (mustDeliver && dropped.length > 0) {
          failure = new Rejection('delivery_failed', `a notification could not be delivered: ${dropped[0]?.reason}`);
          break;
        }
      }
    }

    const success = failure === undefined;
    if (wantsAck(envelope.ack, success)) {
      const echo = card?.echo(envelope.properties, body);
      const result = {
        success,
        code: failure?.code ?? 'ok',
        details: failure?.details ?? '',
        fields: { ...echo?.fields, ...outcome?.fields, ...failure?.fields },
        properties: { ...echo?.properties, ...outcome?.properties },
        detailsKey: card?.detailsKey ?? 'details',
      } as const;
      if (!(await send(acknowledge(envelope, result, notifications.length, now())))) return false;
    }
    counters.repliesDelivered += sent;
    counters.repliesDropped += dropped.length;

    if (success) counters.succeeded += 1;
    else counters.failed += 1;
    log[dropped.length > 0 || failure?.code === 'internal_platform_error' ? 'warn' : 'info'](
      {
        device: deviceId,
        message: envelope.name,
        code: failure?.code ?? 'ok',
        ...(failure && { details: failure.details }),
        correlationId: envelope.correlationId?.slice(0, 128),
        partition: origin.partition,
        sequenceNumber: event.sequenceNumber,
        ms: Math.round(handledMs),
        replies: sent,
        ...(dropped.length > 0 && { dropped }),
        ...(outcome && outcome.remarks.length > 0 && { remarks: outcome.remarks }),
      },
      'handled',
    );
    return true;
  }

  return (arrival, charge) =>
    answer(arrival, charge).catch((error) => {
      rejectionOf(error, arrival);
      counters.failed += 1;
      return true;
    });
}
