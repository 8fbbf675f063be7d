import { earliestEventPosition, type LastEnqueuedEventProperties } from '@azure/event-hubs';
import { client, type Fact, inference, pages, thread } from '../fact.ts';
import { holds, NotTried, same } from '../lab/differs.ts';
import type { Lab } from '../lab/lab.ts';
import { enter } from '../lab/reading.ts';
import { readRefusal, refusalOf } from '../lab/refusal.ts';
import { telemetry } from '../lab/telemetry.ts';
import { within } from '../lab/within.ts';

// Positions, owner levels, and what the endpoint says of itself.

const far = 1_000_000_000;

/** The receiver's refusal, if there is one. */
async function attempt(
  lab: Lab,
  options: Omit<Parameters<typeof enter>[1], 'partition'> & { readonly partition?: string },
) {
  const { partition } = await lab.shared(telemetry);
  const reader = enter(lab, { partition, ...options });
  const refused = await reader.opened;
  return { refused, ended: reader.ended, leave: () => reader.close() };
}

const owner = (ownerLevel?: number) => ({
  startPosition: earliestEventPosition,
  ...(ownerLevel !== undefined && { ownerLevel }),
});

async function refused(lab: Lab, options: Parameters<typeof attempt>[1], code: string, text: RegExp) {
  const { refused: found, leave } = await attempt(lab, options);
  await leave();
  same('the refusal', found?.code, code);
  holds('its text', text.test(found?.text ?? ''), found?.text);
}

export const readingFacts: readonly Fact[] = [
  {
    id: 'reading.beyond-end',
    says: 'A start beyond the last event is refused when the receiver attaches: `com.microsoft:argument-error`, “The supplied offset … is invalid. The last offset in the system is …”. The client has `ArgumentError` for it, and tries no more.',
    sources: [
      thread('Azure/azure-event-hubs-python#13'),
      thread('nicolgit/azure-firewall-mon#21', 'a sequence number'),
    ],
    check: {
      run: (lab) =>
        refused(
          lab,
          { startPosition: { sequenceNumber: far } },
          'ArgumentError',
          /^The supplied sequence number '\d+' is invalid\. The last sequence number in the system is '-?\d+'/,
        ),
    },
  },
  {
    id: 'reading.before-oldest',
    says: 'A start before the oldest event begins with the oldest one.',
    sources: [inference('nothing published says what happens; the stock clients resume so after a long stop')],
    check: {
      async run(lab) {
        const { partition, before } = await lab.shared(telemetry);
        const { beginningSequenceNumber: oldest, isEmpty } = before;
        if (isEmpty || oldest === 0) throw new NotTried('no event of the partition has gone yet');
        const reader = enter(lab, { partition, startPosition: { sequenceNumber: 0, isInclusive: true } });
        same('the refusal', await reader.opened, undefined);
        const [first] = await within(
          'the oldest event',
          reader.until((events) => events.length > 0),
        );
        holds('it is the oldest', (first?.sequenceNumber ?? -1) >= oldest, first?.sequenceNumber);
        await reader.close();
      },
    },
  },
  {
    id: 'reading.lower-level',
    says: 'A receiver with a lower owner level than the one that is there is refused: `amqp:link:stolen`, “Receiver … with a higher epoch … already exists. …”.',
    sources: [thread('Azure/azure-sdk-for-java#26583', 'of an IoT hub')],
    check: {
      disturbs: 'readers',
      async run(lab) {
        const first = await attempt(lab, owner(5));
        same('the refusal of the first', first.refused, undefined);
        await refused(
          lab,
          owner(4),
          'ReceiverDisconnectedError',
          /^Receiver .* with a higher epoch '?5'? already exists/,
        );
        await first.leave();
      },
    },
  },
  {
    id: 'reading.equal-level',
    says: 'One with an equal or a higher level drives out the one that is there: `amqp:link:stolen`, “New receiver … with higher epoch of … is created hence current receiver …”.',
    sources: [
      thread('Azure/azure-sdk-for-python#31084'),
      inference('an equal level: the stock clients’ partition ownership depends on it'),
    ],
    check: {
      disturbs: 'readers',
      async run(lab) {
        const first = await attempt(lab, owner(7));
        const second = await attempt(lab, owner(7));
        same('the refusal of the second', second.refused?.text, undefined);
        const { code, text } = await within('the end of the first', first.ended);
        same('its end', code, 'ReceiverDisconnectedError');
        holds(
          'its text',
          /^New receiver .* with higher epoch of '?7'? is created hence current receiver/.test(text),
          text,
        );
        await Promise.all([first.leave(), second.leave()]);
      },
    },
  },
  {
    id: 'reading.no-level',
    says: 'One without an owner level beside one that has one is refused: `amqp:link:stolen`, “At least one receiver for the endpoint is created with epoch of …”.',
    sources: [thread('Azure/amqpnetlite#162'), thread('Azure/azure-sdk-for-js#15893', 'the condition')],
    check: {
      disturbs: 'readers',
      async run(lab) {
        const first = await attempt(lab, owner(9));
        await refused(
          lab,
          owner(),
          'ReceiverDisconnectedError',
          /^At least one receiver for the endpoint is created with epoch of '?9'?/,
        );
        await first.leave();
      },
    },
  },
  {
    id: 'reading.five',
    says: 'Five receivers without an owner level may share a partition in a group. A sixth one is refused: `amqp:resource-limit-exceeded`, “Exceeded the maximum number of allowed receivers per partition in a consumer group which is 5. …”.',
    sources: [thread('Azure/azure-sdk-for-java#38117'), thread('MicrosoftDocs/azure-docs#24985')],
    check: {
      disturbs: 'readers',
      async run(lab) {
        const five = await Promise.all(Array.from({ length: 5 }, () => attempt(lab, owner())));
        const refusals = five.map(({ refused: found }) => found?.text).filter((text) => text !== undefined);
        same('the refusals of five', refusals, []);
        const text = /^Exceeded the maximum number of allowed receivers per partition in a consumer group which is 5\./;
        await refused(lab, owner(), 'QuotaExceededError', text);
        await Promise.all(five.map(({ leave }) => leave()));
      },
    },
  },
  {
    id: 'reading.no-such-partition',
    says: 'A partition that is not there: `com.microsoft:argument-out-of-range`, “The specified partition is invalid for an EventHub partition sender or receiver. It should be between 0 and …”, from a link as from `$management`.',
    sources: [thread('Azure/azure-sdk-for-python#11708')],
    check: {
      async run(lab) {
        await refused(
          lab,
          { partition: '999', startPosition: earliestEventPosition },
          'ArgumentOutOfRangeError',
          /^The specified partition is invalid for an EventHub partition sender or receiver\. It should be between 0 and \d+\./,
        );
        const asked = await refusalOf(lab.consumer().getPartitionProperties('999'));
        same('the answer of $management', asked?.code, 'ArgumentOutOfRangeError');
      },
    },
  },
  {
    id: 'reading.no-such-group',
    says: 'A consumer group that is not there is `amqp:not-found`.',
    sources: [client('`@azure/core-amqp`, `MessagingEntityNotFoundError`')],
    check: {
      async run(lab) {
        const { partition } = await lab.shared(telemetry);
        const consumer = lab.consumer(lab.target.events, 'hub-facts-none');
        const ended = new Promise<Error>((resolve) => {
          consumer.subscribe(
            partition,
            { processEvents: async () => undefined, processError: async (error) => resolve(error) },
            { startPosition: earliestEventPosition },
          );
        });
        same('the refusal', readRefusal(await within('the refusal', ended)).code, 'MessagingEntityNotFoundError');
      },
    },
  },
  {
    id: 'reading.partition-info',
    says: '`$management` knows of a partition: the oldest and the newest sequence number, the newest offset and its time, and whether it is empty.',
    sources: [client('`@azure/event-hubs`, `managementClient.js`')],
    check: {
      async run(lab) {
        const { events, after } = await lab.shared(telemetry);
        const last = events.at(-1);
        holds(
          'the newest number is not older than the last event',
          after.lastEnqueuedSequenceNumber >= (last?.sequenceNumber ?? 0),
          after.lastEnqueuedSequenceNumber,
        );
        holds(
          'the oldest number is not newer than the first event',
          after.beginningSequenceNumber <= (events[0]?.sequenceNumber ?? 0),
          after.beginningSequenceNumber,
        );
        if (after.lastEnqueuedSequenceNumber === last?.sequenceNumber) {
          same('its time', after.lastEnqueuedOnUtc.getTime(), last.enqueuedTimeUtc.getTime());
          same('its offset', after.lastEnqueuedOffset ?? last.offset, last.offset);
        }
        same('that it is empty', after.isEmpty, false);
      },
    },
  },
  {
    id: 'reading.last-offset',
    says: 'The newest offset is a text. Now and then it was null.',
    sources: [thread('Azure/azure-event-hubs-dotnet#77', '2016')],
    check: {
      async run(lab) {
        const { after } = await lab.shared(telemetry);
        same('its type', typeof (after.lastEnqueuedOffset as string | null), 'string');
      },
    },
  },
  {
    id: 'reading.stale-info',
    says: 'What `$management` says can be older than what was read already.',
    sources: [thread('kedacore/keda', 'its scaler `azure_eventhub_scaler.go` forgives 10,000 events')],
    check: 'comes and goes: once is no proof of the contrary',
  },
  {
    id: 'reading.empty-partition',
    says: 'A partition that never had an event: numbers −1 or 0, the offset `-1`, and it is empty. What one that the retention has emptied says is not published; here it keeps its newest number.',
    sources: [inference('the first is how the emulators of Azure answer')],
    check: {
      async run(lab) {
        const consumer = lab.consumer();
        const ids = await consumer.getPartitionIds();
        const extents = await Promise.all(ids.map((id) => consumer.getPartitionProperties(id)));
        const untouched = extents.find(({ isEmpty }) => isEmpty);
        if (!untouched) throw new NotTried('every partition has events');
        const { beginningSequenceNumber, lastEnqueuedSequenceNumber, lastEnqueuedOffset } = untouched;
        holds('the newest number is below the oldest', lastEnqueuedSequenceNumber <= beginningSequenceNumber, [
          beginningSequenceNumber,
          lastEnqueuedSequenceNumber,
        ]);
        if (lastEnqueuedSequenceNumber === -1) same('the offset', lastEnqueuedOffset, '-1');
      },
    },
    noOtherWay: 'what else it could say is `reading.last-offset`',
  },
  {
    id: 'reading.metric',
    says: 'A receiver that asks for it is told the newest number, offset and time of its partition with each event.',
    sources: [client('`@azure/event-hubs`, `trackLastEnqueuedEventProperties`')],
    check: {
      async run(lab) {
        const { partition, events } = await lab.shared(telemetry);
        const consumer = lab.consumer();
        const told = new Promise<LastEnqueuedEventProperties | undefined>((resolve) => {
          consumer.subscribe(
            partition,
            {
              processEvents: async ([first], context) => first && resolve(context.lastEnqueuedEventProperties),
              processError: async () => resolve(undefined),
            },
            {
              startPosition: earliestEventPosition,
              trackLastEnqueuedEventProperties: true,
              skipParsingBodyAsJson: true,
            },
          );
        });
        const newest = await within('an event', told);
        const last = events.at(-1);
        holds(
          'the newest number',
          (newest?.sequenceNumber ?? -1) >= (last?.sequenceNumber ?? 0),
          newest?.sequenceNumber,
        );
        if (newest?.sequenceNumber === last?.sequenceNumber)
          same('its offset and time', [newest?.offset, newest?.enqueuedOn], [last?.offset, last?.enqueuedTimeUtc]);
      },
    },
  },
  {
    id: 'reading.credit',
    says: 'The endpoint sends no more events than the receiver has granted credit for. The client grants more in every cycle, whatever it has not used.',
    sources: [client('`@azure/event-hubs`, `partitionReceiver.js`'), thread('Azure/azure-sdk-for-js#39452')],
    check: 'no official client shows it',
    noOtherWay: 'AMQP has it so; a hub that sent more would break every client',
  },
  {
    id: 'reading.settled',
    says: 'Events are sent settled: a receiver need not answer.',
    sources: [inference('the clients set `autoaccept`, and no page tells of outcomes')],
    check: 'no official client shows it',
  },
  {
    id: 'reading.no-send',
    says: "No policy may send to the event endpoint: “'Send' claim(s) are required to perform this operation”.",
    sources: [thread('home-assistant/core#81084')],
    check: {
      async run(lab) {
        const producer = lab.producer();
        lab.atEnd(() => producer.close());
        const found = await refusalOf(producer.sendBatch([{ body: 'hub-facts' }]));
        same('the refusal', found?.code, 'UnauthorizedError');
        holds(
          'its text',
          /'Send' claim\(s\) are required to perform this operation/.test(found?.text ?? ''),
          found?.text,
        );
      },
    },
    noOtherWay: 'the service sends nothing there; `--owner-may-send` has it for tests (D121)',
  },
  {
    id: 'reading.words',
    says: 'Refusals of links end with `TrackingId:…, SystemTracker:…, Timestamp:…`.',
    sources: [thread('Azure/azure-sdk-for-python#31084')],
    check: {
      async run(lab) {
        await refused(
          lab,
          { startPosition: { sequenceNumber: far } },
          'ArgumentError',
          /TrackingId:[^,]+, ?SystemTracker:[^,]+, ?Timestamp:/,
        );
      },
    },
  },
  {
    id: 'reading.redirect',
    says: 'Under the hub’s own name, a receiver of `messages/events` gets `amqp:link:redirect` with the address of the event endpoint.',
    sources: [client('`@azure/event-hubs`, its sample `iothubConnectionString.js`')],
    check: 'the official clients follow no redirect by themselves',
  },
  {
    id: 'reading.idle',
    says: 'A connection without a link is closed after a minute, or five if it had one. A sender’s link that is silent for half an hour ends. Links of `$cbs` and `$management` keep no connection alive.',
    sources: [
      pages.amqp,
      thread('Azure/azure-sdk-for-java#41535'),
      thread('Azure/azure-event-hubs-node#40'),
      inference('that a service’s link ends, too (H3)'),
    ],
    check: 'takes minutes',
  },
  {
    id: 'reading.detach',
    says: 'Links end now and then for no reason of the client, with `amqp:link:detach-forced` or without an error; the connection stays.',
    sources: [thread('amenzhinsky/iothub#76'), thread('Azure/azure-sdk-for-net#40828')],
    check: 'happens weekly',
    noOtherWay: 'the fault `detach` has both',
  },
  {
    id: 'reading.open-frame',
    says: '`open` announces an idle time-out of 240,000 ms, frames of 64 KiB, and channels up to 4,999. Each link announces 1 MiB; a larger message is rejected with `amqp:link:message-size-exceeded`.',
    sources: [
      thread('Azure/azure-iot-sdk-node#1089'),
      thread('Azure/azure-iot-sdk-c#2233', '1 MiB'),
      inference('channels: devices are told 8,191'),
    ],
    check: 'no official client shows it',
    noOtherWay: 'AMQP has peers negotiate all three, and the library does',
  },
  {
    id: 'reading.questions',
    says: '`$management` answers 50 questions a second, for all clients together.',
    sources: [pages.eventHubs],
    check: 'would take the questions from the readers of the hub',
  },
];
