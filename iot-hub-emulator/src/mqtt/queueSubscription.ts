import type { Delivery } from '../cloudToDevice/deviceQueues.ts';
import type { Feature, FeatureContext } from './channel.ts';
import { deviceboundTopic, formatBag } from './topics.ts';

const maxTopicBytes = 65_535;

/** Cloud-to-device messages: with quality 1 a PUBACK completes them. A module has none, but may ask for its inputs. */
export function queueFeature({ hub, login, send }: FeatureContext): Feature {
  const { deviceId, moduleId } = login.identity;
  const prefix = deviceboundTopic(deviceId);
  const unacknowledged = new Map<number, Delivery>();
  let packetId = 0;

  const nextPacketId = (): number => {
    do packetId = (packetId % 65_535) + 1;
    while (unacknowledged.has(packetId));
    return packetId;
  };

  const deliver = (delivery: Delivery, qos: 0 | 1): void => {
    const topic = prefix + formatBag(delivery.message);
    const { body: payload } = delivery.message;
    if (Buffer.byteLength(topic) > maxTopicBytes) return; // cannot be said in MQTT; it stays queued until it expires
    if (qos === 0) {
      send({ cmd: 'publish', topic, payload, qos, dup: false, retain: false });
      delivery.complete();
      return;
    }
    const messageId = nextPacketId();
    unacknowledged.set(messageId, delivery);
    send({ cmd: 'publish', topic, payload, qos, dup: delivery.isRedelivered, retain: false, messageId });
  };

  if (moduleId !== undefined)
    return { channels: [{ topic: `devices/${deviceId}/modules/${moduleId}/inputs/#`, open: () => () => undefined }] };
  return {
    channels: [
      {
        topic: `${prefix}#`,
        open: (qos) => hub.devicebound.listen(deviceId, (delivery) => deliver(delivery, qos())),
      },
    ],
    acknowledge(id) {
      unacknowledged.get(id)?.complete();
      unacknowledged.delete(id);
    },
  };
}
