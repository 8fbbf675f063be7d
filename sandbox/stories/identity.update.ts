import { acknowledged, anyText, publicKey } from './live.ts';
import type { Story } from './story.ts';
import { acknowledgement, ok } from './wire.ts';

const message = 'identity.update';
const id = 'new-key';
const ofSensor = { parent: 'edge', identity: 'sensor-1' };

export const identityUpdate: Story = {
  message,
  example: {
    title: 'A gateway publishes the key with which secrets can be encrypted for a sensor behind it',
    device: 'gateway-1',
    id,
    properties: { parent: 'edge', context: 'renewal' },
    body: `{
  "identity": "sensor-1",
  "publicKey": "${publicKey}"
}`,
    replies: [acknowledgement(message, id, { ...ok, ...ofSensor }, { context: 'renewal' })],
  },
  exchanges: [
    { title: 'A device updates its own identity', device: 'gateway-1', id: 'own', body: { publicKey } },
    { title: 'It may do so again', device: 'gateway-1', id: 'own-again', body: { publicKey } },
    {
      title: 'It updates an identity that is connected through it',
      device: 'gateway-1',
      id: 'child',
      body: { identity: 'edge', publicKey },
    },
    {
      title: 'And one that is connected through that; user context and target come back',
      device: 'gateway-1',
      id: 'grandchild',
      properties: { parent: 'edge', context: '{"reason":"renewal"}', target: 'edge/sensor-1' },
      body: `{ "identity" : "sensor-1", "publicKey" : "${publicKey}", "counter" : 9007199254740993 }`,
    },
    {
      title: 'A parent without an identity does not matter',
      device: 'gateway-1',
      id: 'parent-only',
      properties: { parent: 'edge' },
      body: { publicKey },
    },
    {
      title: 'An update whose answer gets lost is asked for again',
      device: 'gateway-1',
      id: 'lost-answer',
      fault: { backend: 'principalManager', method: 'PUT', times: 1, reset: 'after-effect' },
      body: { publicKey },
    },
    {
      title: 'An identity that is not there is refused; user context comes back with failures, too',
      device: 'gateway-1',
      id: 'nobody',
      properties: { context: 'retry 1' },
      body: { identity: 'nobody', publicKey },
    },
    {
      title: 'A name is one name: it is no path to a grandchild',
      device: 'gateway-1',
      id: 'path',
      body: { identity: 'edge/sensor-1', publicKey },
    },
    {
      title: 'An identity of another device is not there',
      device: 'pump-1',
      id: 'stranger',
      properties: { parent: 'edge' },
      body: { identity: 'sensor-1', publicKey },
    },
    {
      title: 'What the principal manager decides itself is refused by it',
      device: 'gateway-1',
      id: 'read-only',
      body: { path: 'rival-1' },
    },
  ],
  attempts: ({ deviceId, identities }) => [
    ...identities.map(({ body, ...one }) => ({ ...one, body: { ...body, publicKey: 'mine' } })),
    {
      what: 'its name as a parent without identity',
      properties: { parent: deviceId },
      body: { publicKey: 'mine' },
      isHarmless: true,
    },
  ],
  live: ({ run }) => ({
    title: 'An identity that does not exist is not updated: the refusal is the pass',
    body: { identity: run, publicKey },
    replies: [acknowledged({ success: false, code: 'http_response_error', details: anyText })],
  }),
};
