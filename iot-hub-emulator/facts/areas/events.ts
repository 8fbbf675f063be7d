import type { ReceivedEventData } from '@azure/event-hubs';
import { client, type Fact, inference, pages, thread } from '../fact.ts';
import { holds, same } from '../lab/differs.ts';
import type { Lab } from '../lab/lab.ts';
import { sent, type Telemetry, telemetry } from '../lab/telemetry.ts';

// What an event of a device looks like at the built-in endpoint.

/** A check of the messages that all of these share. */
const seen = (
  check: (
    found: Telemetry & { readonly first: ReceivedEventData; readonly stamps: Readonly<Record<string, unknown>> },
  ) => void,
) => ({
  messages: sent.bodies.length,
  shares: telemetry,
  async run(lab: Lab) {
    const found = await lab.shared(telemetry);
    const [first] = found.events;
    if (first) check({ ...found, first, stamps: first.systemProperties ?? {} });
  },
});

const captures = thread('microsoft/IoT-For-Beginners', 'captures in lesson 4 of the farm');
const eventData = client('`@azure/event-hubs`, `eventData.js`');

export const eventFacts: readonly Fact[] = [
  {
    id: 'events.device-stamp',
    says: 'An event has the id of the device that sent it as the annotation `iothub-connection-device-id`, a text. A device cannot write it: a property of that name stays among the application properties.',
    sources: [pages.messages, thread('Azure/azure-event-hubs-dotnet#183')],
    check: seen(({ specimen, events, first }) => {
      const stamped = events.map(({ systemProperties }) => systemProperties?.['iothub-connection-device-id']);
      same(
        'the stamps',
        stamped,
        events.map(() => specimen.deviceId),
      );
      same('the forged property', first.properties?.['iothub-connection-device-id'], 'somebody-else');
    }),
    noOtherWay: 'a page has it, and `events.routed-stamps` is a hub without stamps',
  },
  {
    id: 'events.login-stamps',
    says: 'Beside it are `iothub-connection-auth-method`, JSON as text, and `iothub-connection-auth-generation-id`, the device’s generation.',
    sources: [pages.messages, captures],
    check: seen(({ stamps }) => {
      const method = JSON.parse(String(stamps['iothub-connection-auth-method'] ?? null));
      holds('the login has a scope', method?.scope === 'device', method);
      holds('the generation is a text', typeof stamps['iothub-connection-auth-generation-id'] === 'string');
    }),
    noOtherWay: 'a page has it, and nothing here reads them',
  },
  {
    id: 'events.source',
    says: '`iothub-message-source` is `Telemetry` for what devices send.',
    sources: [pages.messages],
    check: seen(({ stamps }) => same('the source', stamps['iothub-message-source'], 'Telemetry')),
  },
  {
    id: 'events.hub-time',
    says: '`iothub-enqueuedtime`, when the hub took an event, is there, and near `x-opt-enqueued-time`, when the partition did: seen were −11 to +327 ms.',
    sources: [
      inference(
        'captures on the page about non-telemetry events, and in microsoft/IoT-For-Beginners; how the differences are spread is a guess',
      ),
    ],
    check: seen(({ first, stamps }) => {
      const hubTime = Number(stamps['iothub-enqueuedtime']);
      holds('the hub’s time is a time', Number.isFinite(hubTime), stamps['iothub-enqueuedtime']);
      const apart = Math.abs(hubTime - first.enqueuedTimeUtc.getTime());
      holds('the two times are less than a minute apart', apart < 60_000, apart);
    }),
  },
  {
    id: 'events.dates',
    says: 'The client gives the enqueued time of an event as a `Date`, and each other time as a number of milliseconds.',
    sources: [eventData],
    check: seen(({ first, stamps }) => {
      holds('the enqueued time is a Date', first.enqueuedTimeUtc instanceof Date);
      same('the kind of the hub’s time', typeof (stamps['iothub-enqueuedtime'] ?? 0), 'number');
    }),
  },
  {
    id: 'events.no-partition-key',
    says: 'Events of devices carry no `x-opt-partition-key`, though the device selects the partition.',
    sources: [inference('no published capture has it')],
    check: seen(({ first }) => same('the partition key', first.partitionKey, undefined)),
  },
  {
    id: 'events.sequence',
    says: 'Sequence numbers of a partition are whole numbers that rise by one from event to event.',
    sources: [thread('xtdb/xtdb#3529', 'which quotes a page')],
    check: seen(({ all }) => {
      const numbers = all.map(({ sequenceNumber }) => sequenceNumber);
      same(
        'the numbers',
        numbers,
        numbers.map((_, index) => (numbers[0] ?? 0) + index),
      );
    }),
  },
  {
    id: 'events.offset',
    says: 'An offset is a decimal number as text, below 2⁵³. Read it as it comes all the same: pages call it opaque.',
    sources: [inference('captures; Event Hubs with geo-replication has others, and IoT Hub has none of that')],
    check: seen(({ all }) => {
      for (const { offset } of all) holds('the offset is a decimal text', /^\d{1,16}$/.test(offset), offset);
    }),
  },
  {
    id: 'events.order',
    says: 'Events of a device are in one partition, in the order in which the device sent them.',
    sources: [pages.messages, pages.builtIn],
    check: seen(({ events }) => {
      const bodies = events.map(({ body }) => Buffer.from(body).toString('latin1'));
      same(
        'the bodies',
        bodies,
        sent.bodies.map((body) => body.toString('latin1')),
      );
    }),
  },
  {
    id: 'events.body',
    says: 'A body arrives byte for byte, as a data section.',
    sources: [client('`azure-iot-device-mqtt`, and `@azure/event-hubs` with `skipParsingBodyAsJson`')],
    check: seen(({ events }) => {
      holds(
        'the bodies are bytes',
        events.every(({ body }) => Buffer.isBuffer(body)),
      );
      same('the second body', Buffer.from(events[1]?.body ?? '').toString('hex'), sent.bodies[1]?.toString('hex'));
    }),
  },
  {
    id: 'events.properties',
    says: 'Application properties that came over MQTT are texts, with the case of their names, empty values and any characters.',
    sources: [pages.messages, pages.mqtt],
    check: seen(({ first }) => {
      const own = Object.fromEntries(Object.keys(sent.properties).map((name) => [name, first.properties?.[name]]));
      same('the properties', own, { ...sent.properties });
    }),
  },
  {
    id: 'events.content-type',
    says: 'Content type and encoding that a device gives are the standard properties of the event.',
    sources: [pages.messages],
    check: seen(({ first }) => {
      same('the content type', first.contentType, sent.contentType);
      same(
        'the encoding',
        first.systemProperties?.['contentEncoding'] ?? first.getRawAmqpMessage().properties?.contentEncoding,
        sent.contentEncoding,
      );
    }),
  },
  {
    id: 'events.ids',
    says: 'The ids that a device gives a message arrive as the same text, also one in the form of a UUID.',
    sources: [inference('the page lists them as texts; services send UUIDs as another type of AMQP')],
    check: seen(({ first }) =>
      same('the ids', [first.messageId, first.correlationId], [sent.messageId, sent.correlationId]),
    ),
  },
  {
    id: 'events.model',
    says: 'Events of a device that names its model when it connects have it as `dt-dataschema`, those of others have not.',
    sources: [pages.plugAndPlay, pages.messages],
    check: seen(({ stamps }) => same('the model of a device that names none', stamps['dt-dataschema'], undefined)),
  },
  {
    id: 'events.will',
    says: 'A will becomes an event with the property `iothub-MessageType=Will`, when the connection ends without a DISCONNECT packet.',
    sources: [pages.mqtt],
    check: 'the official device client sets no will',
  },
  {
    id: 'events.repeats',
    says: 'A message that a device publishes again, because it got no PUBACK, is a second event.',
    sources: [thread('Azure/azure-iot-sdk-c#2514')],
    check: 'the official clients do not let an acknowledgement be lost',
    noOtherWay: 'a hub that dropped repeats would only spare the service its own recognition of them (A2)',
  },
  {
    id: 'events.routed-stamps',
    says: 'The event hub behind a route has the hub’s stamps as annotations, too. A sender with a right there can forge them.',
    sources: [inference('nothing that was found shows a routed event of AMQP')],
    check: 'needs a route and a second event hub',
  },
  {
    id: 'events.notifications',
    says: 'Events of the hub itself (connections, lifecycle, twin changes) have another `iothub-message-source`, and no stamps of a login.',
    sources: [pages.notifications],
    check: 'needs a route that sends them to the built-in endpoint',
  },
  {
    id: 'events.retention',
    says: 'Events go after the retention, one to seven days, or later.',
    sources: [pages.builtIn],
    check: 'takes a day',
  },
  {
    id: 'events.failover',
    says: 'After a failover the event endpoint has another name, its numbers and offsets are those of another event hub, and what was not read of the one before is lost. The hub’s own name and keys stay.',
    sources: [
      pages.reliability,
      thread('martin-weber/iothub-failover-findings', 'silence for minutes, without an error'),
    ],
    check: 'takes the whole hub out for minutes',
    noOtherWay: 'the fault `failover` has silence, too',
  },
];
