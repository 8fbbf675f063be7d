import type device from 'azure-iot-device';
import { client, type Fact, inference, pages, thread } from '../fact.ts';
import { holds, NotTried, same } from '../lab/differs.ts';
import type { Lab } from '../lab/lab.ts';
import { message, reception, refusedSend } from '../lab/toDevice.ts';
import { within } from '../lab/within.ts';

// Messages to devices.

const strange = { timestamp: '2026-11-20T13:45:40.128Z', target: 'edge/sensor 1', 'a b/+#&=%': 'ä€/?#+&=%' };
const uuid = '0d2a7f0e-6d7c-4c5e-9b2a-1f6d2d1f9a10';
const needs = ['toDevices'] as const;

/** A message to a device that is connected over MQTT, as it arrives. */
const arrives = (given: Parameters<typeof message>[1], check: (got: device.Message, body: Buffer) => void) => ({
  needs,
  messages: 1,
  async run(lab: Lab) {
    const { specimen, next } = await lab.shared(reception);
    const body = Buffer.from([0, 0xff, 0x7b, 0x0d, 0x0a]);
    const service = await lab.openService();
    await service.send(specimen.deviceId, message(body, given));
    check(await within('the message', next()), body);
  },
});

const propertiesOf = (got: device.Message) =>
  Object.fromEntries(got.properties.propertyList.map(({ key, value }) => [key, value]));

/** One that no device receives, and why the hub refuses it; undefined when it takes it. */
const sentTo = (lab: Lab, deviceId: string, body: Buffer | string, more: Parameters<typeof message>[1] = {}) =>
  refusedSend(lab, deviceId, message(body, more));

const size = 65_536;
const day = 24 * 3600 * 1000;

export const toDeviceFacts: readonly Fact[] = [
  {
    id: 'c2d.arrives',
    says: 'Body, content type, encoding and properties arrive as they were sent; names keep their case, and a value may be empty.',
    sources: [pages.toDevices, pages.messages],
    check: arrives({ properties: { msgType: 'ack', 'a-B': 'x', empty: '' } }, (got, body) => {
      same('the body', got.getData().toString('hex'), body.toString('hex'));
      same('the properties', propertiesOf(got), { msgType: 'ack', 'a-B': 'x', empty: '' });
      same('the content type', [got.contentType, got.contentEncoding], ['application/json', 'utf-8']);
    }),
  },
  {
    id: 'c2d.characters',
    says: "Properties may have any characters. Azure documents letters, digits and ``!#$%&'*+-.^_`|~`` only; times have colons, and paths slashes.",
    sources: [thread('Azure/azure-iot-sdks#1017', '`/` worked in 2016'), inference('no refusal of others was found')],
    check: arrives({ properties: strange }, (got) => same('the properties', propertiesOf(got), strange)),
  },
  {
    id: 'c2d.ids',
    says: 'Message id and correlation id arrive as the text that was sent. A UUID in small letters travels as 16 bytes, and arrives in small letters again.',
    sources: [client('`azure-iothub`, `amqp_message.js`'), inference('that it comes back in small letters')],
    check: arrives({ messageId: uuid, correlationId: uuid.replaceAll('-', '') }, (got) => {
      same('the ids', [got.messageId, got.correlationId], [uuid, uuid.replaceAll('-', '')]);
    }),
  },
  {
    id: 'c2d.prefix',
    says: 'A property whose name begins with `iothub-` passes as it is, `iothub-ack` aside.',
    sources: [
      inference('Azure does not say'),
      thread('Azure/azure-iot-sdk-csharp#1953', 'that `iothub-message-schema` arrives under another name'),
    ],
    check: arrives({ properties: { 'iothub-hub-facts': 'x' } }, (got) =>
      same('the properties', propertiesOf(got), { 'iothub-hub-facts': 'x' }),
    ),
  },
  {
    id: 'c2d.order',
    says: 'Messages wait for a device that is not connected, and then arrive in order.',
    sources: [pages.toDevices],
    check: {
      needs,
      messages: 3,
      async run(lab) {
        const specimen = await lab.specimen();
        for (const body of ['1', '2', '3']) same('the refusal', await sentTo(lab, specimen.deviceId, body), undefined);
        const { next } = await reception(lab, specimen);
        const bodies: string[] = [];
        while (bodies.length < 3) bodies.push((await within('a message', next())).getData().toString());
        same('the bodies', bodies, ['1', '2', '3']);
      },
    },
  },
  {
    id: 'c2d.abandoned',
    says: 'A message that the device abandons comes again. Over MQTT a device can neither abandon nor reject.',
    sources: [pages.toDevices],
    check: {
      needs,
      messages: 1,
      async run(lab) {
        const specimen = await lab.specimen();
        const { next, connection } = await reception(lab, specimen, 'amqp');
        same('the refusal', await sentTo(lab, specimen.deviceId, 'again'), undefined);
        const settle = (how: 'abandon' | 'complete', got: device.Message) => connection[how](got);
        await settle('abandon', await within('the message', next()));
        const again = await within('it once more', next());
        same('the body', again.getData().toString(), 'again');
        await settle('complete', again);
      },
    },
  },
  {
    id: 'c2d.locks',
    says: 'Only what a device abandons counts as a delivery, ten at most. A lock of 60 s that is lost, and a connection, put a message back uncounted.',
    sources: [pages.toDevices, inference('the connection (D131)')],
    check: 'takes minutes',
    noOtherWay: 'it decides only when a message comes again',
  },
  {
    id: 'c2d.accepted',
    says: 'The outcome `accepted` means that the message is in the queue of the device; the client makes `MessageEnqueued` of it. It does so of no other outcome: `released` and `modified` end without a result.',
    sources: [client('`azure-iothub`, `amqp.js`')],
    check: {
      needs,
      messages: 1,
      async run(lab) {
        const { deviceId } = await lab.specimen();
        const service = await lab.openService();
        const { result } = await within('the outcome', service.send(deviceId, message('x')));
        same('the result', result?.constructor.name, 'MessageEnqueued');
      },
    },
  },
  {
    id: 'c2d.quick',
    says: 'Below the rate of its tier, the hub answers a message within a second.',
    sources: [inference('the page about throttling calls later answers a sign of it')],
    check: {
      needs,
      messages: 3,
      async run(lab) {
        const { deviceId } = await lab.specimen();
        const times: number[] = [];
        for (const body of ['1', '2', '3']) {
          const began = performance.now();
          await sentTo(lab, deviceId, body);
          times.push(Math.round(performance.now() - began));
        }
        holds('milliseconds until an answer', Math.min(...times) < 1000, times);
      },
    },
  },
  {
    id: 'c2d.unknown-device',
    says: 'A device that is not in the registry: `amqp:not-found`, which the client calls `DeviceNotFoundError`.',
    sources: [pages.errors, client('`azure-iothub`, `amqp_service_errors.js`')],
    check: {
      needs,
      messages: 1,
      async run(lab) {
        const found = await sentTo(lab, `${lab.run}-none`, 'x');
        same('the refusal', [found?.name, found?.condition], ['DeviceNotFoundError', 'amqp:not-found']);
      },
    },
  },
  {
    id: 'c2d.pending',
    says: 'A device has at most 50 messages in its queue. The next one: `amqp:resource-limit-exceeded`, with 403004 in its description.',
    sources: [pages.toDevices, pages.errors],
    check: {
      needs,
      messages: 51,
      async run(lab) {
        const { deviceId } = await lab.specimen();
        for (let count = 1; count <= 50; count += 1)
          same(`the refusal of message ${count}`, await sentTo(lab, deviceId, 'x'), undefined);
        const found = await sentTo(lab, deviceId, 'x');
        same('the refusal of the next', found?.condition, 'amqp:resource-limit-exceeded');
        holds('its description', /403004|DeviceMaximumQueueDepthExceeded/.test(found?.text ?? ''), found?.text);
      },
    },
  },
  {
    id: 'c2d.quota',
    says: 'When the messages of the day are used up: the same condition, with 403002 or `QuotaExceeded` in the description.',
    sources: [
      client('`azure-iothub`, `amqp_service_errors.js`'),
      pages.errors,
      inference('the description: nothing shows it over AMQP'),
    ],
    check: 'takes the messages of a day',
  },
  {
    id: 'c2d.size',
    says: 'A message may have 65,536 bytes: body, values of system properties with `to`, names and values of application properties. A larger one: `amqp:link:message-size-exceeded`.',
    sources: [pages.messages, pages.quotas, thread('Azure/azure-iot-sdk-node#275', 'about 64 KB failed')],
    check: {
      needs,
      messages: 33,
      async run(lab) {
        const { deviceId } = await lab.specimen();
        const system = 'application/json'.length + 'utf-8'.length + `/devices/${deviceId}/messages/devicebound`.length;
        const full = Buffer.alloc(size - system - 'name'.length - 'value'.length, 'x');
        same(
          'the refusal of 65,536 bytes',
          (await sentTo(lab, deviceId, full, { properties: { name: 'value' } }))?.text,
          undefined,
        );
        const found = await sentTo(lab, deviceId, full, { properties: { name: 'value+' } });
        same(
          'the refusal of more',
          [found?.name, found?.condition],
          ['MessageTooLargeError', 'amqp:link:message-size-exceeded'],
        );
      },
    },
  },
  {
    id: 'c2d.expiry',
    says: 'A message that would expire more than two days ahead is refused (403009), over AMQP with `com.microsoft:argument-error`. Without an expiry it lives an hour.',
    sources: [pages.toDevices, pages.errors, inference('that it is refused, not shortened; the condition')],
    check: {
      needs,
      messages: 1,
      async run(lab) {
        const { deviceId } = await lab.specimen();
        const found = await sentTo(lab, deviceId, 'x', { expiryTimeUtc: Date.now() + 3 * day });
        same('the refusal', found?.condition, 'com.microsoft:argument-error');
      },
    },
  },
  {
    id: 'c2d.purge',
    says: '`DELETE /devices/{id}/commands` empties a queue, and answers `totalMessagesPurged`.',
    sources: [client('`azure-iothub`, `pl/operations/cloudToDeviceMessages.js`'), pages.identity],
    check: {
      needs,
      messages: 2,
      async run(lab) {
        const { deviceId } = await lab.specimen();
        for (const body of ['1', '2']) await sentTo(lab, deviceId, body);
        const { totalMessagesPurged } = await lab
          .gateway()
          .cloudToDeviceMessages.purgeCloudToDeviceMessageQueue(deviceId);
        same('the answer', totalMessagesPurged, 2);
      },
    },
  },
  {
    id: 'c2d.feedback',
    says: 'A message with `iothub-ack` has feedback: a list in JSON with `originalMessageId`, `deviceId`, `deviceGenerationId`, `statusCode`, `description` and `enqueuedTimeUtc`. The first leaves at once, a further one with 64 records, or 15 s after the one before.',
    sources: [pages.toDevices, client('`azure-iothub`, `service_receiver.js`')],
    check: {
      needs,
      disturbs: 'feedback',
      messages: 1,
      async run(lab) {
        const { specimen, next } = await lab.shared(reception);
        const service = await lab.openService();
        const receiver = await feedbackReceiver(service);
        let isForeign = false;
        const coming = new Promise<Record<string, unknown>>((resolve) => {
          receiver.on('message', (batch: device.Message) => {
            const records = JSON.parse(batch.getData().toString()) as Record<string, unknown>[];
            const own = records.find(({ originalMessageId }) => String(originalMessageId).toLowerCase() === lab.run);
            if (own) resolve(own);
            // that of other services is available again when this connection ends
            if (own) receiver.complete(batch as never).catch(() => undefined);
            else isForeign = true;
          });
        });
        await service.send(specimen.deviceId, message('x', { messageId: lab.run, ack: 'full' }));
        await within('the message', next());
        const record = await within('feedback', coming).catch((error) => {
          throw isForeign ? new NotTried('feedback of other services came first') : error;
        });
        same('its device', record['deviceId'], specimen.deviceId);
        same('its status', record['statusCode'], 'Success');
        const fields = ['originalMessageId', 'deviceGenerationId', 'description', 'enqueuedTimeUtc'];
        same(
          'the fields that it lacks',
          fields.filter((name) => typeof record[name] !== 'string'),
          [],
        );
      },
    },
  },
  {
    id: 'c2d.feedback-waits',
    says: 'Feedback that no service fetches waits for an hour; a message of it that is not settled comes again.',
    sources: [pages.toDevices, thread('Azure/azure-iot-sdk-java#1654', 'one message at a time')],
    check: 'takes an hour',
    noOtherWay: 'a page has it, and the service reads no feedback',
  },
  {
    id: 'c2d.rate',
    says: 'Above the rate (S1, S2: 100 a minute for each unit; S3: 5,000) a burst passes, then messages are answered late, at the rate, then refused with `com.microsoft:device-container-throttled`.',
    sources: [pages.quotas, inference('how long it holds back, how many, and the words over AMQP (D130)')],
    check: 'would throttle the services of the hub for minutes',
  },
  {
    id: 'c2d.links',
    says: 'The opening of links is throttled, too: `com.microsoft:device-container-throttled`, wait ten seconds.',
    sources: [thread('Azure/azure-iot-sdk-csharp#1189')],
    check: 'would throttle the services of the hub',
    noOtherWay: 'the fault `refuse-link` has it; a hub that did not would only be easier',
  },
  {
    id: 'c2d.words',
    says: 'A refused message has the hub’s code and name in its description: `ErrorCode:DeviceMaximumQueueDepthExceeded;403004…`.',
    sources: [inference('answers over HTTPS have this form')],
    check: {
      needs,
      messages: 1,
      async run(lab) {
        const { deviceId } = await lab.specimen();
        const found = await sentTo(lab, deviceId, 'x', { expiryTimeUtc: Date.now() + 3 * day });
        if (found === undefined) throw new NotTried('the hub has refused nothing');
        holds('the description', /ErrorCode:\w+;\s*\d{6}|\b403009\b/.test(found.text), found.text);
      },
    },
  },
];

type Receiver = {
  on(event: 'message', listener: (batch: device.Message) => void): void;
  complete(batch: never): Promise<unknown>;
};

async function feedbackReceiver(service: Awaited<ReturnType<Lab['openService']>>): Promise<Receiver> {
  const { result } = (await service.getFeedbackReceiver()) as unknown as { readonly result: Receiver };
  return result;
}
