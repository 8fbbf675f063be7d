import type { Delivery } from '../cloudToDevice/deviceQueues.ts';
import type { Message } from '../values/message.ts';
import type { Feature, FeatureContext } from './channel.ts';
import { deviceboundTopic, formatBag } from './topics.ts';

const maxTopicBytes = 65_535;

/** Cloud-to-device messages: with quality 1 a PUBACK completes them. A module has none, but may ask for its inputs. */
export function queueFeature({ hub, login, session, send }: FeatureContext): Feature {
  const { deviceId, moduleId } = login.identity;
  const prefix = deviceboundTopic(deviceId);
  const unacknowledged = new Map<number, Delivery>();
  let packetId = 0;

  const packetIdOf = ({ message }: Delivery): number => {
    const known = session.packetIds.get(message);
    if (known !== undefined) return known;
    do packetId = (packetId % 65_535) + 1;
    while (unacknowledged.has(packetId));
    session.packetIds.set(message, packetId);
    return packetId;
  };

  const topicOf = (message: Message): string => prefix + formatBag(message);
  const unsayable = new WeakSet<Message>();
  const takes = (message: Message): boolean => {
    if (!unsayable.has(message) && Buffer.byteLength(topicOf(message)) > maxTopicBytes) unsayable.add(message);
    return !unsayable.has(message);
  };

  const deliver = (delivery: Delivery, qos: 0 | 1): void => {
    const topic = topicOf(delivery.message);
    const { body: payload } = delivery.message;
    if (qos === 0) {
      send({ cmd: 'publish', topic, payload, qos, dup: false, retain: false });
      delivery.complete();
      return;
    }
    const messageId = packetIdOf(delivery);
    unacknowledged.set(messageId, delivery);
    send({ cmd: 'publish', topic, payload, qos, dup: delivery.isRedelivered, retain: false, messageId });
  };

  if (moduleId !== undefined)
    return { channels: [{ topic: `devices/${deviceId}/modules/${moduleId}/inputs/#`, open: () => () => undefined }] };
  return {
    channels: [
      {
        topic: `${prefix}#`,
        open: (qos) => hub.devicebound.listen(deviceId, (delivery) => deliver(delivery, qos()), undefined, takes),
      },
    ],
    acknowledge(id) {
      unacknowledged.get(id)?.complete();
      unacknowledged.delete(id);
    },
  };
}
