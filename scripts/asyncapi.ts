import { describeMessages } from './asyncapi/messages.ts';
import { contractPage } from './contractPage.ts';

/**
 * The contract between the service and devices, written from the cards and, for bodies that the service hands on, the
 * contracts of the backends.
 */
export const asyncApiFile = 'docs/contracts/asyncapi.yaml';

const description = `Messages between devices and the device messaging service, through an IoT hub.

Headers are the application properties of a message. They are text: a typed value of an AMQP device counts as its text.
The hub itself says which device sent a message; no property can. Requests may have more properties than are named here,
replies have no others. Bodies are UTF-8 JSON without a byte order mark, nested at most 128 levels deep.

A V2 request may be compressed, as \`content-encoding\` says: its payload here is what the body is after decompression.
V1 events are deprecated. Every acknowledgement is sent only if the request asks for it with \`ack\`.
`;

const references = (place: string, names: readonly string[]) => names.map((name) => ({ $ref: `#/${place}/${name}` }));

const listed = (messages: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.keys(messages).map((name) => [name, { $ref: `#/components/messages/${name}` }]));

const address = (direction: string) => ({
  address: `devices/{deviceId}/messages/${direction}`,
  parameters: { deviceId: { description: 'Id of the device that is connected to the hub.' } },
});

/** The AsyncAPI document, as YAML. */
export function asyncApiDocument(): string {
  const { requests, replies, exchanges, refusals, notifications, schemas } = describeMessages();
  const toDevice = { ...replies, ...refusals, ...notifications };
  const document = {
    asyncapi: '3.0.0',
    info: {
      title: 'Device messaging service',
      version: '2.0.0',
      description,
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    defaultContentType: 'application/json',
    channels: {
      deviceToCloud: { ...address('events'), messages: listed(requests) },
      cloudToDevice: { ...address('devicebound'), messages: listed(toDevice) },
    },
    operations: {
      ...Object.fromEntries(
        exchanges.map(({ request, summary, replies: answers }) => [
          request,
          {
            action: 'receive',
            summary,
            channel: { $ref: '#/channels/deviceToCloud' },
            messages: references('channels/deviceToCloud/messages', [request]),
            reply: {
              channel: { $ref: '#/channels/cloudToDevice' },
              messages: references('channels/cloudToDevice/messages', answers),
            },
          },
        ]),
      ),
      refuse: send('Acknowledge a request whose action or event type is missing or unknown', Object.keys(refusals)),
      notify: send('Send an object model to a device', Object.keys(notifications)),
    },
    components: { messages: { ...requests, ...toDevice }, schemas },
  };
  return contractPage("the messages' cards", document);
}

const send = (summary: string, messages: readonly string[]) => ({
  action: 'send',
  summary,
  channel: { $ref: '#/channels/cloudToDevice' },
  messages: references('channels/cloudToDevice/messages', messages),
});
