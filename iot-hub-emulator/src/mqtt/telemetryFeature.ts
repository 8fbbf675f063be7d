import { answer } from '../faults/answering.ts';
import { Refusal } from '../values/refusal.ts';
import type { Feature, FeatureContext } from './channel.ts';
import { eventsTopic, isEventsTopic, parseBag } from './topics.ts';

/** Device-to-cloud messages, and the will, which becomes one. */
export function telemetryFeature({ hub, login, connection, will }: FeatureContext): Feature {
  const { deviceId, moduleId } = login.identity;
  const own = eventsTopic(deviceId, moduleId);

  const accept = (topic: string, payload: Buffer, retain: boolean, more: Record<string, string> = {}): void => {
    const { system, properties } = parseBag(topic.slice(own.length));
    if (retain) properties['mqtt-retain'] = 'true';
    hub.events.accept(login, { system, properties: Object.assign(properties, more), body: payload });
  };

  return {
    take({ topic, payload, retain, acknowledge }) {
      if (!isEventsTopic(topic, own)) return false;
      const answers = {
        accept: acknowledge,
        reject: (condition: string, description: string) => connection.close({ condition, description }),
      };
      const takeIt = (refusal: Refusal | undefined) => () => {
        if (refusal) throw refusal;
        accept(topic, payload, retain);
      };
      hub.throttle.shape('d2c', (refusal) =>
        answer(hub.faults, { kind: 'd2c', deviceId, connection }, takeIt(refusal), answers),
      );
      return true;
    },
    broken() {
      if (!will) return;
      try {
        hub.throttle.take('d2c');
        accept(will.topic, Buffer.from(will.payload), will.retain === true, { 'iothub-MessageType': 'Will' });
      } catch (error) {
        if (!(error instanceof Refusal)) throw error; // the device has gone and gets no answer
      }
    },
  };
}
