import { client, type Fact, inference, page, pages, type Source, thread } from '../fact.ts';
import { holds } from '../lab/differs.ts';

// What no service of this project asks for, but other clients of the emulator may.

export const detail = (id: string, says: string, ...sources: readonly Source[]): Fact => ({
  ...{ id, says, sources, check: 'no code here but the emulator relies on it' },
  ...(sources.some(({ kind }) => kind === 'thread' || kind === 'inference') && {
    noOtherWay: 'the service does not depend on it',
  }),
});

export const detailFacts: readonly Fact[] = [
  {
    ...detail(
      'details.statistics',
      '`GET /statistics/service` counts connected devices, `/statistics/devices` all.',
      client('`azure-iothub`, `pl/operations/statistics.js`'),
    ),
    check: {
      async run(lab) {
        await lab.connected(await lab.specimen());
        const { connectedDeviceCount: connected } = await lab.gateway().statistics.getServiceStatistics();
        const { totalDeviceCount: all = 0 } = await lab.gateway().statistics.getDeviceStatistics();
        holds('connected devices', typeof connected === 'number', connected);
        holds('all devices', all >= 1, all);
      },
    },
  },
  detail(
    'details.statistics-rights',
    'Service connect or registry read allow the statistics of connected devices.',
    inference('a guess'),
  ),
  detail(
    'details.purge-delivered',
    'A purge takes delivered messages, too; the right is service connect.',
    inference('a guess'),
  ),
  detail(
    'details.cleared-twin',
    '`desired: null` and `tags: null` clear a twin. The device is told `null` for each name that it had (D132).',
    pages.twins,
    inference('what the device is told'),
  ),
  detail(
    'details.new-twin',
    'A new twin has `$metadata.$lastUpdated`, the time when its device was created.',
    page('event-grid/event-schema-iot-hub'),
  ),
  detail(
    'details.refused-will',
    'A will that the device could not send as a message is refused with its connection (D81).',
    inference('such a message ends a connection'),
  ),
  detail(
    'details.rates-at-once',
    'Connections, links, methods and twins are counted by the second and refused at once.',
    pages.quotas,
    inference('that they are not held back (D130)'),
  ),
  detail(
    'details.shaping',
    'What is held back: `429002` when too many are, `429003` when it takes too long, `429001` when the hub does not hold back. A minute at most, as many as pass in that time, and at most 1,000.',
    pages.errors,
    inference('the numbers (D130)'),
  ),
  detail(
    'details.feedback-queue',
    'Feedback has the queue rules of a device: one hour, ten deliveries, a lock of 60 s.',
    pages.toDevices,
    inference('what counts as a delivery'),
  ),
  detail(
    'details.mqtt-packet',
    'A packet of MQTT may have the size of a message (256 KB) and of a topic; the number of properties has no limit.',
    inference('Azure does not say'),
  ),
  detail(
    'details.connect-time',
    '`connectTimeoutInSeconds` is 0 to 300, else 400004. `504102` does not occur.',
    inference('the range of the other time-out'),
  ),
  detail(
    'details.management-token',
    '`$management` believes the token in the request itself, as text or bytes; a request without one, or with something else there, is answered if a token on the connection gives the right.',
    client('`@azure/event-hubs`; the first `azure-eventhub` for Python puts none, 5.11 describes a time with it'),
  ),
  detail(
    'details.frames',
    'Frames have all their fields; an attach is answered with the source, target and properties that the client gave, or with neither when it is refused. `handle-max` is 262,143.',
    thread('Azure/azure-iot-sdk-c#2233'),
    thread('Azure/iothub-explorer#57', 'one that is refused'),
  ),
  detail(
    'details.addresses',
    'An address may begin with a slash, or be a whole URI: `amqps://HOST/HUB/ConsumerGroups/…`.',
    client('`azure-eventhub` for Python, `azure-iot-sdk-c`'),
  ),
  detail(
    'details.link-name',
    'A second link of the same name in a session is refused with `amqp:resource-locked`.',
    client('`Microsoft.Azure.Amqp`, with which services of Azure are made'),
  ),
  detail(
    'details.bearer',
    'Services get in with `Bearer` and a token, put at `$cbs` for its scope, or in the header; to send and to invoke are two rights.',
    pages.identity,
    client('`azure-iothub`'),
  ),
  detail(
    'details.routed-tokens',
    'The event hub behind a route takes tokens for `https://eventhubs.azure.net`, put as `jwt`, of principals that may listen or send.',
    client('`@azure/event-hubs`'),
  ),
  detail(
    'details.too-large',
    'After a message that is too large, links of devices and services end, those of producers do not.',
    thread('Azure/azure-iot-sdk-csharp#2055', 'devices'),
    inference('services'),
  ),
  detail(
    'details.forced',
    'A connection that the hub closes or moves ends its links and sessions first, with `amqp:connection:forced`.',
    thread('Azure/azure-event-hubs-node#127'),
  ),
  detail(
    'details.sasl',
    'SASL offers `MSSBCBS`, `PLAIN` and `ANONYMOUS`. At the event endpoint PLAIN takes a policy, and its key as password. The connection ends with its token.',
    client('`azure-eventhub` for Python, Eclipse Ditto'),
    inference('the offer, and the end'),
  ),
  detail(
    'details.channels',
    'Devices are told channels up to 8,191, the event endpoint 4,999.',
    thread('Azure/azure-iot-sdk-node#1089'),
    inference('the second'),
  ),
  detail(
    'details.model',
    'A model’s name that is no DTMI is refused; a connection that names none makes the hub forget it (D122).',
    inference('a guess'),
  ),
  detail(
    'details.notifications',
    'In the hub’s own events a property that was removed is `null`. A module that connects is named among the application properties alone.',
    pages.notifications,
    inference('the first'),
  ),
  detail(
    'details.property-types',
    'Application properties that came over AMQP reach readers with their types, byte for byte.',
    inference('in AMQP nobody on the way changes them'),
  ),
  detail(
    'details.topics',
    'A topic with `+`, `#` or a zero character, or a slash in its property bag, ends the connection, as will or as message. One slash may end the bag.',
    pages.mqtt,
    inference('the slash'),
  ),
  detail(
    'details.packet-ids',
    'In a session that was kept, a message without PUBACK comes again under the packet id that it had, with DUP.',
    inference('MQTT 3.1.1, 4.4; nothing published says what IoT Hub does'),
  ),
  detail(
    'details.long-topics',
    'A message whose properties fit into no topic (65,535 bytes) is not delivered over MQTT. It waits until it expires; the others pass it by.',
    inference('a guess'),
  ),
  detail(
    'details.api-version',
    'A request without an `api-version` that the hub has had is 400, `InvalidProtocolVersion`.',
    thread('Azure/azure-iot-sdk-node#617'),
    thread('Azure/Industrial-IoT#708'),
  ),
  detail(
    'details.twin-values',
    'A twin has integers from −2⁵² to 2⁵²−1, texts of 4 KB, names of 1 KB and ten levels; tags have 8 KB, each section of properties 32 KB: names and texts in UTF-8 without control characters, 8 bytes for a number, 4 for true or false.',
    pages.twins,
    inference('that lists are levels, too, and what they hold is counted'),
  ),
  detail(
    'details.twin-numbers',
    'A twin keeps `1.0` as it was written.',
    inference('other languages tell it from `1`'),
  ),
  detail(
    'details.twin-members',
    'A patch with a member that no twin has is refused with 400; what only the hub changes is passed over.',
    inference('a guess'),
  ),
  detail(
    'details.twin-answers',
    'A request of a twin over AMQP is refused while there is no link for the answer: `amqp:not-allowed`.',
    inference('a guess'),
  ),
  detail(
    'details.https-devices',
    'A device over HTTPS posts a message, or a list of them as `application/vnd.microsoft.iothub.json`, gets one message or 204, and completes, rejects or abandons it by its `ETag`. It is never connected.',
    client('`azure-iot-device-http`, `http.js`'),
    inference(
      'that a list has 500 at most, that a lost lock is 412, `DeviceMessageLockLost`, and that names of properties keep their case',
    ),
  ),
  detail(
    'details.uploads',
    'A device asks for a token for one blob (`{device}/{name}`, an hour), uploads it past the hub, and says how that ended; then services are told of the file. A device has ten uploads under way at most: 403.',
    page('iot-hub/iot-hub-devguide-file-upload'),
    client('`azure-iot-device`, `file_upload_api.js`'),
    inference('that of a file which is not there nothing is said'),
  ),
  detail(
    'details.enrichments',
    'An enrichment adds an application property to each message: a text, `$iothubname`, or a value of the sender’s twin, which stays as it was asked for (`$twin.tags.hall`) when the twin has none. Ten at most.',
    page('iot-hub/iot-hub-message-enrichments-overview'),
    inference('that a property of the device with the same name goes, and that what is no text is written as JSON'),
  ),
  detail(
    'details.jobs',
    'A job changes the twins of devices, or calls a method of them: those for which its condition holds when it starts. It is queued, running, completed or cancelled, and counts the devices with which it succeeded and failed. A second one of its id is 409.',
    page('iot-hub/iot-hub-devguide-jobs'),
    client('`azure-iothub`, `job_client.js`'),
    inference(
      'ten devices at once, a thousand jobs, that a device which is late has failed, and that the right is service connect',
    ),
  ),
  detail(
    'details.configurations',
    'An automatic configuration sets desired properties, at places that it names, in the twins of its condition; of two for the same place the one of higher priority, then the younger, has its way. It has five metrics at most, a hub 100 configurations. Its content cannot be changed. From a twin that it no longer targets what it has set goes; when it is deleted, that stays.',
    page('iot-hub/iot-hub-automatic-device-management'),
    client('`azure-iothub`, `pl/models/index.d.ts`: the error codes'),
    inference(
      'that objects are merged, that one without a condition is for nobody, the numbers of the states, and that what it sets counts for its own condition only with the next change. IoT Hub looks every five minutes, this hub at once',
    ),
  ),
  detail(
    'details.edge-devices',
    'An edge device has `deviceScope`, `ms-azure-iot-edge://ID-GENERATION`, and the modules `$edgeAgent` and `$edgeHub`. Devices behind it name its scope; edge devices do so as `parentScopes`. A scope of no edge device is 400.',
    client('`azure-iothub`, `pl/models/index.d.ts`'),
    page('iot-edge/module-edgeagent-edgehub'),
    inference(
      'that a deployment replaces the desired properties of the modules that it names, and creates those that are not there',
    ),
  ),
  detail('details.keep-alive', 'A keep-alive of 0 counts as the longest.', inference('a guess')),
  detail('details.created', '`createdOn` of the event hub is when the hub was created.', client('`@azure/event-hubs`')),
];
