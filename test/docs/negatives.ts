/** What a page denies, in a part of the sentence, and the tests that prove it: `file › title`, or a part of the title. */
export type Denials = Readonly<Record<string, readonly (readonly [says: string, ...tests: readonly string[]])[]>>;

/** The file is meant below `test/`, with the ending that it has besides `.ts`. */
export const proven: Denials = {
  'README.md': [
    [
      'delays no other device',
      'engine/fairness.test › are not delayed by a device whose messages all hang until their deadlines',
    ],
    [
      'wait in the hub, not in memory',
      'engine/partition.test › takes no more events than the budget allows; the rest stays in the hub',
    ],
    ['No message can stop the service', 'e2e/quarantine.test › is parked, and no other message'],
    ['No secrets in the log', 'dispatch/dispatch.test › holds no body, no key and no token, whatever happens'],
  ],
  'docs/guarantees.md': [
    [
      'they are not taken for slow themselves',
      'engine/quarantine/restarts.test › are not considered slow, and are handled as soon as the slow ones are known',
    ],
    ['Nothing is lost', 'hub/crashMessages.test › a process that dies at any step of a message'],
    [
      'so that a restart does not repeat it',
      'engine/partition.test › does not repeat after a restart the messages done behind a slow one',
    ],
    [
      'Devices do not wait for each other',
      'engine/lanes.test › messages of one device are handled one after the other, and devices concurrently',
    ],
    [
      'do not wait for messages that need another',
      'hub/waiting.test › do not block messages for other backends: 2,000 wait for the information model, and 50 are handled meanwhile',
      'e2e/waiting.test › more than a thousand messages that wait for the information model do not delay others',
    ],
    [
      'A repeat leaves no trace',
      'e2e/restart.test › handles the message again without a second effect, and gives the reply the same message id',
    ],
    [
      'A clean stop repeats nothing',
      'e2e/drain.test › finishes the messages in progress, exits with 0, and the next one repeats none',
    ],
    [
      'a partition has not been read for 30 s',
      'hub/endpoint/lookUpTimes.test › a hub is asked half a minute after a partition is not read any more',
      'hub/endpoint/lookUpTimes.test › a hub that sends no event for two minutes is asked, and then every two minutes',
    ],
    [
      'nothing that was finished is repeated',
      'e2e/failover.test › no event is lost and none is handled twice when the hub fails over under load, there and back',
    ],
    [
      'could not be finished are counted as `unfinished`',
      'hub/endpoint/followHub.test › is read there only when the messages that were read before are done, or have had five minutes',
    ],
    [
      'its checkpoints are refused as',
      'hub/startPosition.test › because its checkpoint is of an older hub, raises an alarm',
    ],
    ['No message stops the service', 'e2e/quarantine.test › is parked, and no other message'],
    [
      'No event vanishes',
      'hub/boundedDecoding.test › an event has its properties without its body, if that is',
      'engine/partition.test › reports each gap in the sequence numbers once; the first event and a repeat are not gaps',
    ],
    [
      'whose properties cannot be decoded is counted',
      'dispatch/recognition.test › an event whose properties cannot be decoded is skipped with a warning',
    ],
    [
      'No reply is dropped silently',
      'dispatch/handledMetrics.test › a reply that is dropped is counted by its reason',
      'dispatch/everyField.test › after a failure and with a dropped reply',
    ],
    ['its decision is not cached', 'methods/invoke.test › is checked for each invocation; the type is cached'],
    [
      '`no` (with one exception, D40)',
      'methods/hubError.test › to a request that was not sent means that nothing was invoked',
      'methods/input.test › is refused with its name',
      'methods/device.test › may say whether the method has run',
    ],
    [
      'A slow device delays no other',
      'methods/load.test › has a limit of invocations, beyond which callers get 503; other devices are not affected',
    ],
    [
      'have not been started',
      'engine/lanes.test › messages of one device are handled one after the other, and devices concurrently',
    ],
    [
      'derived from the event and never random',
      'protocol/event.test › are the same for the same event, however often it is delivered',
    ],
    [
      'sends nothing more',
      'hub/lostWhileDraining.test › an instance that %s sends and calls nothing more after it sees that another instance owns the partition',
    ],
    [
      'is not executed again',
      'engine/quarantine/quarantine.test › a message that was in an isolated run',
      'dispatch/dispatch.test › without its body being read or a backend called',
    ],
    [
      'messages that are no suspects go on at once',
      'engine/quarantine/restarts.test › slow ones among them, 40 quick ones within seconds, if it takes',
    ],
    [
      'never dead-lettered for being slow',
      'engine/quarantine/restarts.test › is the only one that is parked beside slow innocent messages',
    ],
    [
      'are not taken for slow themselves',
      'engine/quarantine/restarts.test › are not considered slow, and are handled as soon as the slow ones are known',
    ],
    [
      'normal operation none',
      'engine/quarantine/restarts.test › records nothing for any number of messages, and clears the crash record when its messages are done',
    ],
    [
      'delay no small one of another device',
      'engine/fairness.test › large messages of many devices delay no small message, in memory or in the hub',
    ],
    ['No message costs more than 25 times', 'cost.test › of %s is read once, up to the point where it breaks a rule'],
    [
      'no more than three times what `JSON.parse` takes',
      'protocol/jsonAnswer.test › is read once, and its elements are counted',
    ],
    [
      'never take more than `DELIVERY_MAX_BYTES`',
      'engine/fairness.test › of all partitions together is never exceeded',
    ],
    [
      'or for the end of its daily quota drops nothing',
      'hub/sender.test › tries one reply each minute, and drops none',
      'hub/sender.test › drops no reply while the hub cannot be reached',
      'hub/sender.test › drops a reply after a time of throttling, but not for its own pace',
    ],
    [
      'Removing an identity that does not exist is refused',
      'messages/identity.delete.test › rejects the second deletion, since the identity no longer exists',
      'messages/identity.delete.test › is a success when the identity does not exist and this message may have deleted it',
    ],
  ],
  'docs/result-codes.md': [
    ['the case of letters does not matter', 'docs/acknowledgements.test › has the meaning of ack %j'],
    ['`none`, an empty value or no `ack`', 'docs/acknowledgements.test › has the meaning of ack %j'],
    ['will not be read again', 'e2e/restart.test › resumes after the last handled message, and repeats none'],
    [
      'While the hub cannot be reached at all, replies wait',
      'hub/sender.test › drops no reply while the hub cannot be reached',
    ],
    [
      'the message is **not** completed',
      'dispatch/dispatch.test › is not counted as handled when the service stops before its replies are out',
    ],
    [
      'Notifications do not depend on `ack`',
      'messages/v1/Svc.Device.Created.test › sends notifications also without a requested acknowledgement and without a target',
    ],
    [
      'also with `ack` = `none`',
      'messages/model.create.test › sends the svc.configuration model also to a device that requests no acknowledgement',
    ],
    [
      'delivered does not change the result',
      'messages/model.create.test › keeps its result when the notification',
      'messages/v1/Svc.Device.SyncModel.test › fails at a notification that the hub does not accept, and sends only the acknowledgement after it',
    ],
  ],
  'docs/devices.md': [
    ['Do not repeat a key', 'messages/model.create.test › occurs twice'],
    ['any text that is not empty', 'protocol/envelope.test › with %j: %s'],
    ['`none` (default)', 'protocol/envelope.test › has the defaults of an action without optional properties'],
    ['No property names the device', 'protocol/event.test › is never taken from application properties'],
    [
      'Notifications do not depend on `ack`',
      'messages/v1/Svc.Device.Created.test › sends notifications also without a requested acknowledgement and without a target',
    ],
    [
      'which do not change `success`',
      'messages/createOrUpdate/created › counts as success when a related model could not be created',
    ],
    ['Unique properties never change', 'sandbox/backends/update.test › a changed unique property'],
    [
      'empty if the request failed earlier, and no `objectId`',
      'messages/createOrUpdate/refused › refuses a device that the principal manager does not know',
    ],
    [
      'Only a request with neither an `objectId`',
      'messages/createOrUpdate/created › creates a new model on every request when neither objectId nor unique properties are given',
      'messages/createOrUpdate/updated › updates again when the identical request is repeated',
    ],
    [
      'A parent cannot be changed once it is set',
      'messages/v1/Svc.Device.Created.test › fails when the model has another parent',
    ],
    ['has no property `objectId`', 'messages/v1/Svc.Device.Created.test › the acknowledgement names no object'],
    [
      'There is no notification',
      'messages/replace/rows › sends no notification, not even of the svc.configuration model',
      'messages/reference.create.test › sends no notification of the references',
      'messages/type.create.test › sends no notification of the type',
      'messages/identity.update.test › sends no notification of the identity',
      'messages/identity.delete.test › sends no notification of the identity',
    ],
    [
      'not lower than the stored version',
      'messages/replace/versions › rejects a request far behind the stored version',
    ],
    [
      'succeeds again and changes nothing',
      'messages/reference.create.test › repeats a call whose answer was lost under the same idempotency key, without a further change',
    ],
    [
      'count as not given',
      'messages/v1/Svc.Device.SyncModel.test › have no effect when they are false, null or empty:',
    ],
    [
      'With none of them you get the one model',
      'messages/v1/Svc.Device.SyncModel.test › is always fetched and sent as ObjectModelUpdated to the target of the request, and without options no other is',
    ],
    [
      'If your device may not read a model',
      'messages/v1/Svc.Device.SyncModel.test › is not authorized when a child must not be read',
    ],
    [
      'when the next one finds no room for a minute',
      'messages/v1/Svc.Device.SyncModel.test › fails at a notification that the hub does not accept, and sends only the acknowledgement after it',
      'hub/sender.test › drops a reply after a minute of %s, and says why',
    ],
    [
      'A version never changes',
      'sandbox/backends/types.test › refuses an existing type id and version with 409, even with the same content',
    ],
    ['is one name, not a path', 'messages/identityRows › never splits an identity'],
    [
      'Your device itself cannot be deleted',
      'messages/identity.delete.test › does not find the directly connected device under its own name',
    ],
    ['is `detail`, not `details`', 'messages/identity.delete.test › the acknowledgement says "detail", not "details"'],
    [
      'there is no such identity',
      'messages/identity.delete.test › rejects the second deletion, since the identity no longer exists',
    ],
    [
      'lets messages wait and does not fail them',
      'backends/outages.test › is an outage: all 40 messages that get it wait, and succeed when a probe succeeds',
    ],
    ['the name is `?msgType`', 'protocol/misspellings.test › is %j'],
    [
      'in no order relative to yours',
      'engine/lanes.test › messages of one device are handled one after the other, and devices concurrently',
    ],
    ['Nothing may follow the compressed data', 'protocol/body.test › is refused with trailing data: %s'],
    [
      'would not fit into a message otherwise',
      'protocol/acknowledgement.test › is plain at the limit of 65,536 bytes, and compressed one byte beyond',
    ],
    ['base64 text (no quotes)', 'protocol/acknowledgement.test › is compressed when the request was'],
    ['are never compressed', 'protocol/acknowledgement.test › is never compressed: its details are truncated instead'],
  ],
  'docs/first-deployment.md': [
    [
      'changes nothing, and prints a line',
      'e2e/check/beside.test › takes no partition, no file and no message, and makes a handful of requests',
    ],
    ['deserves a look, ✗ will not work', 'telemetry/report.test › prints a line for each finding, and their sum'],
    [
      'causes a warning in the log, `environment variable is no setting`',
      'settings/config.test › are named, with the nearest name',
    ],
    [
      'nothing that was finished is handled again',
      'e2e/drain.test › finishes the messages in progress, exits with 0, and the next one repeats none',
    ],
  ],
  'docs/troubleshooting.md': [
    [
      'what it cannot take is dropped',
      'operations/tapRoute.test › A slow reader delays nothing: excess lines are dropped, counted and reported',
    ],
    [
      'No line has a token, key or signature',
      'tap/taps.test › has no secret: neither a known one, nor one recognised by its form or name',
      'operations/tapRoute.test › A tap hides the token of a call when a backend repeats it',
    ],
    [
      'and those that are not JSON, are only measured',
      'tap/redactedJson.test › has only its size shown when it cannot be read or is too large (%#)',
    ],
    [
      'A slow reader holds nothing up',
      'operations/tapRoute.test › A slow reader delays nothing: excess lines are dropped, counted and reported',
    ],
    [
      'are not tried in this run',
      'operations/replay.test › parks a dead letter that fails again under the same id, and skips the device’s later ones',
    ],
    ['is named and skipped', 'operations/replay.test › skips files that are not dead letters, and names them'],
    [
      'also of what cannot be read, or options',
      'operations/deadLetterCommands.test › delete removes dead letters by id, also unreadable ones, and names unknown ids',
    ],
    [
      'With neither id nor option it refuses',
      'operations/deadLetterCommands.test › delete removes nothing without a selection, or with two',
    ],
    [
      'The exit code is 0 only when nothing failed',
      'e2e/deadLetters.test › keeps the dead letters of a device that fails again, in order, and ends with 1',
    ],
  ],
  'docs/operations.md': [
    [
      'which it takes nothing',
      'e2e/check/beside.test › takes no partition, no file and no message, and makes a handful of requests',
    ],
    [
      'keeps handling messages and retries the checkpoints',
      'engine/checkpoints.test › continues to count when a write fails, and has the number of failures',
    ],
    [
      'An instance that reads nothing, and has not reached the storage',
      'hub/health.test › A service without an answer of the hub is not ready, stays live for five minutes, and then asks for a restart',
    ],
    ['the partition is not read until', 'hub/unreadableCheckpoints.test › is refused by name: %j'],
    [
      'when it was not seen for a minute',
      'log/troubles.test › a trouble ends by itself after a minute without an event',
    ],
    [
      'the line of its end does not repeat that',
      'log/troubles.test › a trouble has its cause and remedy in each line except the last',
    ],
    [
      'A service that has nothing to do writes nothing',
      'hub/idleHour.test › an idle service %s writes nothing for an hour, while the hub closes its connections',
      'hub/standardError.test › the service client prints no warning about a connection that the hub closes',
    ],
    ['An empty one counts as not set', 'tracing/traceSettings.test › with empty variables'],
    ['The edge proxy has none', 'shape.test › of the edge proxy stay in its package'],
    [
      'nothing is lost, but devices get their answers late',
      'hub/sender.test › tries one reply each minute, and drops none',
    ],
    ['its spans are lost', 'tracing/exportWatch.test › spans beyond the queue are dropped and counted'],
    [
      'that partition is not read',
      'hub/startPosition.test › because its checkpoint is damaged, raises an alarm and makes the service not ready, and the others are read',
    ],
    [
      'the other writes nothing more',
      'hub/fileStore.test › is taken over by a second process at its first use, not when it starts',
    ],
    [
      'has renewed nothing for 30 s for another reason',
      'hub/fileStore.test › takes it back within the expiry after the last renewal, and continues at the other’s progress',
    ],
    [
      'is true when nothing would be done twice',
      'operations/stopPreview.test › the preview reports a safe stop while messages in flight end, and no wait when there are none',
    ],
    [
      'A deleted ownership record does no harm',
      'hub/blobStore.test › have an epoch above the last writer of the checkpoint, even if the ownership was deleted',
    ],
    [
      'A wrong clock of an instance does no harm',
      'hub/blobStore.test › is the storage’s: an instance with a wrong clock sees renewals at its own time',
    ],
    ['is not taken for a missing one', 'hub/unreadableCheckpoints.test › is refused by name: %j'],
    [
      'No finished message is repeated',
      'e2e/drain.test › finishes the messages in progress, exits with 0, and the next one repeats none',
    ],
    [
      'does not cause a repeat of everything behind it',
      'engine/partition.test › does not repeat after a restart the messages done behind a slow one',
    ],
    [
      'is not ready but does not ask for a restart',
      'hub/startPosition.test › because its checkpoint is of an older hub, raises an alarm, makes the service not ready without a restart, and the others are read',
    ],
    [
      'A failing backend changes neither liveness nor readiness',
      'e2e/operator/now.test › Which backend is out? It lists the waiting devices, while the service is ready',
    ],
    [
      'No line has a body, token or key',
      'dispatch/dispatch.test › holds no body, no key and no token, whatever happens',
    ],
    [
      'has no `hubWaitMs` and no `laneWaitMs`',
      'dispatch/everyField.test › is logged without waits when it comes from the dead letters',
    ],
    [
      'A repeated problem does not repeat its line',
      'log/troubles.test › a trouble has one line at the start, one each minute with a count and the latest, and one at the end',
    ],
    [
      'has no parent, but a link',
      'tracing/spans.test › is in the given trace, without a parent, with a link to its sender’s span',
    ],
    ['is no error of the service and of its span', 'dispatch/traces.test › is no error when the device is at fault'],
    ['No span has a body, token or key', 'e2e/traces.test › sends the collector no body, key or token'],
    [
      'delays no message and no stop',
      'tracing/exportWatch.test › delays no message: spans beyond the queue are dropped and counted, and a stop ends',
    ],
    ['can use the port, but no web page', 'operations/admin.test › and still no web page'],
    [
      'the program goes on without it',
      'operations/admin.test › is absent when its port is in use, and the program continues',
    ],
    [
      'loses its own within some seconds',
      'telemetry/slowClients.test › disconnects a client that does not read its answer',
    ],
    [
      'A limit never prevents a dead letter from being written',
      'deadLetters/interleavings.test › waits 3 s for deletions that make room, then continues without them',
    ],
    [
      'so that it displaces no others',
      'deadLetters/interleavings.test › of one device displaces no other device’s dead letters',
    ],
  ],
  'docs/metrics.md': [
    [
      'no device id, no name of a message',
      'dispatch/handledMetrics.test › names that devices make up create no series: the metrics have no value that a device sends',
    ],
    ['The edge proxy does not do this', 'shape.test › of the edge proxy stay in its package'],
    [
      'No attribute has a text that a device chose',
      'dispatch/handledMetrics.test › names that devices make up create no series: the metrics have no value that a device sends',
    ],
    [
      'A collector that fails delays nothing',
      'metrics/otlp.test › the close ends although the collector does not answer',
    ],
  ],
  'docs/methods.md': [
    ['a key that an object has twice', 'methods/input.test › is refused with its name'],
    [
      'send one (up to 128 printable ASCII characters',
      'methods/invoke.test › gets a new correlation id instead of one',
    ],
    ['Unavailable backends do not make it unready', 'methods/backends.test › and does not make the front door unready'],
    [
      'takes no new invocations and waits for those in flight',
      'methods/load.test › that stops finishes the invocations in progress and refuses new ones',
    ],
    ['No line has tokens, signatures', 'e2e/methods.test › neither token nor signature in log or output'],
    ['a payload that is not a JSON object', 'edge/modules.test › is a bad reply'],
    ['A status that is not an integer', 'methods/methodResponse.test › is a bad reply without a status'],
    ['is not part of a topic here', 'edge/modules.test › gets invocations for other objects, '],
    ['and never quote a value', 'edge/configuration.test › never quotes a value'],
    ['for an object whose id is not known yet', 'edge/modules.test › gets invocations for the first object of it'],
    ['a method that finds no room gets', 'edge/load.test › calls beyond the limit of a module get 503 at once'],
    [
      'Nothing is queued, except downloads',
      'edge/load.test › calls beyond the limit of a module get 503 at once',
      'edge/fileInputs.test › begin in their order, and wait no longer than their invocation',
    ],
    ['sends nothing to a collector', 'shape.test › of the edge proxy stay in its package'],
    [
      'takes no new invocations, waits `limits.drainSeconds`',
      'edge/process.test › finishes the invocations in progress on SIGTERM and refuses new ones',
      'edge/process.test › aborts the invocations in progress after the drain time: their outcome is unknown',
    ],
    ['does no harm up to about 23 hours behind', 'edge/process.test › works with a clock that is %i hours wrong'],
    [
      'passes the token to no other service',
      'methods/invoke.test › goes only to the information model, without a device id',
    ],
    ['`"3"` is not an integer', 'methods/input.test › is refused with its name'],
    [
      '`output` is missing when the method answered nothing',
      'methods/invoke.test › without an output returns only its status',
    ],
    ['a slow device delays no other', 'methods/load.test › other devices are not affected'],
    [
      'An invocation is never delivered later than it was meant',
      'edge/connections.test › restarts: meanwhile invocations get 503 and are not delivered later',
    ],
    [
      'The proxy does not keep it for an absent module',
      'edge/connections.test › stores nothing for a module that is not subscribed',
    ],
    [
      'No line has keys, passwords, addresses of files',
      'edge/modules.test › is logged without input and output',
      'edge/files.test › a log line without the URL',
    ],
  ],
  'edge/README.md': [
    [
      'It stores nothing, delivers nothing twice and nothing late',
      'edge/connections.test › stores nothing for a module that is not subscribed: the call ends with 504 and is never delivered',
      'edge/connections.test › restarts: meanwhile invocations get 503 and are not delivered later',
    ],
    ['The id of the object need not be known', 'edge/modules.test › gets invocations for the first object of it'],
  ],
};

/** What denies nothing of the service: advice, a cause of a failure, the tasks of others. */
export const unproven: Readonly<Record<string, readonly string[]>> = {
  'docs/guarantees.md': [
    'and what is not promised',
    'events, and replies that devices had not fetched',
    'What is not known of real hubs',
    'cannot be written, this part grows',
    'Making calls and sending replies does not count',
    '## What is not promised',
    'recognises most repeats, but not all',
    "The hub's direct methods guarantee neither",
  ],
  'docs/result-codes.md': ['the hub does not know the device'],
  'docs/first-deployment.md': ['they tell that messages will be lost'],
  'docs/troubleshooting.md': [
    '[questions](#questions-and-where-their-answers-are)',
    '## It does not start',
    '## Devices get their answers late, or not at all',
    'how many devices do not fetch',
    '`the hub cannot be read` has the hub',
    'No code but `ok`',
    'no message was lost or refused because of the trouble',
    'takes no memory from others',
    'The flood wants no replies',
    'The first 50 replies to each device',
    '![Replies that the hub has not settled]',
    'Then the service knows that these devices do not fetch',
    'do not send them around',
  ],
  'docs/operations.md': [
    'but not a folder of the host',
    'A damaged file stops the start',
    'does not carry checkpoints over',
    'must not share the folder',
    'Do not let one of them *write*',
    'Point no liveness probe',
    'The port has no TLS',
  ],
  'docs/metrics.md': ['so is a metric that nobody has recorded yet', 'Attributes that never change'],
  'docs/methods.md': [
    'none may be empty',
    'A method that must not run twice',
    'no key twice, integers beyond 2^53 as strings',
    'If you cannot carry it out',
    '`yes`, `no` or `unknown`',
    'whose second run does no harm',
    'The front door stores nothing',
    'never expose it unencrypted',
    'Nothing is configured here',
    'a container that holds nothing else',
    'are not in the default containers',
    '`method invoked`, `method not invoked`',
    'At start, remove files that you do not know',
    'a session that the broker keeps for you',
    'that do not speak MQTT',
    'the proxy cannot check this',
    'the IoT Edge workload interface is not supported',
  ],
  'edge/README.md': ['each reads its requests and writes its replies'],
  'docs/devices.md': [
    'needs no connection, library or token other than those for the hub',
    'has no successor yet',
    'Do not rely on the order of keys',
    'but do not parse it',
    'not repeat it as it is',
    'the service does not know it yet',
    'no `recursive`, one object at a time',
    '**No answer**',
    'not ever faster',
    'If no answer ever comes',
    'if success needs no answer',
  ],
};
