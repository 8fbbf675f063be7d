import type { Step } from '../step.ts';
import { action, refusal, success } from '../wire.ts';

const ofSensor = { parent: 'edge', identity: 'sensor-2' };

const ownKey = action('identity.update', 'own-key', { publicKey: 'MCowBQYDK2VwAyEAgateway' }, { context: 'renewal' });
const sensorKey = (id: string) =>
  action('identity.update', id, { identity: 'sensor-2', publicKey: 'MCowBQYDK2VwAyEAsensor' }, { parent: 'edge' });
const firstKey = sensorKey('sensor-key');
const sameKey = sensorKey('sensor-key-again');

const removal = (id: string) => action('identity.delete', id, { identity: 'sensor-2' }, { parent: 'edge' });
const dismantled = removal('dismantled');
const dismantledAgain = removal('dismantled-again');
const itself = action('identity.delete', 'itself', { identity: 'gateway-1' });

/** `identity.update` and `identity.delete`. */
export const identities: readonly Step[] = [
  {
    title: 'A gateway publishes the key with which secrets can be encrypted for it',
    device: 'gateway-1',
    exchange: () => ({
      request: ownKey,
      replies: [success(ownKey, { parent: '', identity: '' }, { context: 'renewal' })],
    }),
  },
  {
    title: 'It does the same for a sensor that is connected through it',
    device: 'gateway-1',
    exchange: () => ({ request: firstKey, replies: [success(firstKey, ofSensor)] }),
  },
  {
    title: 'It may do so again',
    device: 'gateway-1',
    isRepeat: true,
    exchange: () => ({ request: sameKey, replies: [success(sameKey, ofSensor)] }),
  },
  {
    title: 'The sensor has been dismantled: its identity is deleted',
    device: 'gateway-1',
    exchange: () => ({ request: dismantled, replies: [success(dismantled, ofSensor)] }),
  },
  {
    title: 'What is deleted cannot be deleted again',
    device: 'gateway-1',
    isRepeat: true,
    exchange: () => ({
      request: dismantledAgain,
      replies: [refusal(dismantledAgain, 'http_response_error', /no such identity/)],
    }),
  },
  {
    title: 'The gateway cannot delete itself',
    device: 'gateway-1',
    isRepeat: true,
    exchange: () => ({ request: itself, replies: [refusal(itself, 'http_response_error', /no such identity/)] }),
  },
];
