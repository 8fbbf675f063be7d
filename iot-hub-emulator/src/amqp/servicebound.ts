import rhea, { type Message as AmqpMessage, type Sender } from 'rhea';
import type { FeedbackBatch } from '../cloudToDevice/feedback.ts';
import type { LockedItem } from '../cloudToDevice/queue.ts';
import type { HubCore } from '../core/core.ts';
import type { Link } from '../network/connections.ts';
import type { FileNotification } from '../uploads/uploads.ts';
import { Refusal } from '../values/refusal.ts';
import type { Node, Peer } from './link/peer.ts';
import { deliverUnsettled } from './link/unsettledLink.ts';

/** `messages/serviceBound/…`: what the hub has to tell its services. */
export const isServiceboundPath = (path: string): boolean => /^messages\/servicebound\//i.test(path);

/** Feedback about messages to devices, and notifications of uploaded files, each shared by all who receive it. Needs the right of service connect. */
export function serviceboundNode(hub: HubCore): Node {
  const { queue } = hub.feedback;

  const serve = (sender: Sender, peer: Peer, link: Link): void => {
    const { path } = link;
    const allowed = () => peer.claims.find('serviceConnect', []) !== undefined;
    if (!allowed()) throw new Refusal('amqp:unauthorized-access', 'No token here gives the right of service connect.');
    link.allowed = allowed;
    if (/\/filenotifications$/i.test(path)) {
      const files = hub.uploads?.notifications;
      const listener = deliverUnsettled(
        sender,
        (file: LockedItem<FileNotification>) => told(file, hub.name),
        () => files?.flush(),
      );
      if (files) link.onEnd(files.open(listener));
      return;
    }
    if (!/\/feedback$/i.test(path)) throw new Refusal('amqp:not-found', `There is no ${path}.`);
    const receiver = deliverUnsettled(
      sender,
      (batch: LockedItem<FeedbackBatch>) => encode(batch, hub.name),
      queue.flush,
    );
    link.onEnd(queue.open(receiver));
  };

  return { serve };
}

function told({ item, deliveryCount }: LockedItem<FileNotification>, hubName: string): AmqpMessage {
  return {
    delivery_count: deliveryCount - 1,
    user_id: Buffer.from(hubName) as never,
    content_type: 'application/vnd.microsoft.iothub.filenotification.json',
    message_annotations: { 'iothub-enqueuedtime': rhea.types.wrap_timestamp(Date.parse(item.enqueuedTimeUtc)) },
    body: rhea.message.data_section(Buffer.from(JSON.stringify(item))),
  };
}

function encode({ item, deliveryCount }: LockedItem<FeedbackBatch>, hubName: string): AmqpMessage {
  return {
    delivery_count: deliveryCount - 1,
    user_id: Buffer.from(hubName) as never,
    content_type: 'application/vnd.microsoft.iothub.feedback.json',
    message_annotations: { 'iothub-enqueuedtime': rhea.types.wrap_timestamp(item.enqueuedTime) },
    body: rhea.message.data_section(Buffer.from(JSON.stringify(item.records))),
  };
}
