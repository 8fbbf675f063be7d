import { acknowledged, anyText } from './live.ts';
import type { Story } from './story.ts';
import { acknowledgement } from './wire.ts';

const message = 'identity.delete';
const id = 'dismantled';

export const identityDelete: Story = {
  message,
  example: {
    title: 'The sensor has been dismantled: its identity is deleted',
    device: 'gateway-1',
    id,
    properties: { parent: 'edge' },
    body: '{\n  "identity": "sensor-1"\n}',
    replies: [
      {
        ...acknowledgement(message, id, {
          success: true,
          code: 'ok',
          detail: '',
          parent: 'edge',
          identity: 'sensor-1',
        }),
        what: 'the acknowledgement, in which the key is `detail`, not `details`',
      },
    ],
  },
  exchanges: [
    {
      title: 'An identity that is connected through the device is deleted',
      device: 'gateway-1',
      id: 'sensor-2',
      properties: { parent: 'edge', target: 'edge' },
      body: { identity: 'sensor-2' },
    },
    {
      title: 'It cannot be deleted again',
      device: 'gateway-1',
      id: 'sensor-2-again',
      properties: { parent: 'edge' },
      body: { identity: 'sensor-2' },
    },
    {
      title: 'One with others behind it stays until they are gone',
      device: 'gateway-1',
      id: 'edge',
      body: { identity: 'edge' },
    },
    {
      title: 'A deletion whose answer gets lost is asked for again, and succeeds',
      device: 'gateway-1',
      id: 'lost-answer',
      properties: { parent: 'edge' },
      fault: { backend: 'principalManager', method: 'DELETE', times: 1, reset: 'after-effect' },
      body: { identity: 'sensor-1' },
    },
    { title: 'Now it is alone, and is deleted', device: 'gateway-1', id: 'edge-again', body: { identity: 'edge' } },
    {
      title: 'The device cannot delete itself by its name',
      device: 'gateway-1',
      id: 'itself',
      body: { identity: 'gateway-1' },
    },
    {
      title: 'A name is one name: it leads nowhere else',
      device: 'gateway-1',
      id: 'way-out',
      body: { identity: '../pump-1' },
    },
    {
      title: 'An identity of another device is not there',
      device: 'gateway-1',
      id: 'stranger',
      body: { identity: 'pump-1' },
    },
    {
      title: 'A parent with an empty segment is no path',
      device: 'gateway-1',
      id: 'no-path',
      properties: { parent: 'edge//x' },
      body: { identity: 'sensor-2' },
    },
  ],
  attempts: ({ identities }) => identities,
  live: ({ run }) => ({
    title: 'Nor is it deleted',
    body: { identity: run },
    replies: [acknowledged({ success: false, code: 'http_response_error', detail: anyText })],
  }),
};
