import type { Finding } from './checker.ts';

/** A service that breaks one guarantee on purpose; the checker must report it as one of these. */
export interface Sabotage {
  readonly name: string;
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  readonly reportedAs: readonly Finding['what'][];
  /** Names of the misfortunes in which it shows, with no others beside them. */
  readonly showsIn: readonly string[];
}

const calm: readonly string[] = [];

/** What goes wrong by chance in life goes wrong here with the messages whose ids end so. */
export const sabotages: readonly Sabotage[] = [
  // The longest first: at the end, they would run alone.
  {
    name: 'another endpoint begun at its latest event',
    file: 'src/hub/endpoint/followHub.ts',
    find: 'if (others.length === 0) return startPosition;',
    replace: "if (others.length > 0) return 'latest';",
    reportedAs: ['lost', 'state'],
    showsIn: ['hub fails over'],
  },
  {
    name: 'replies paced by a clock that can be set',
    file: 'src/hub/replies/replies.ts',
    find: 'const now = () => performance.now();',
    replace: 'const now = () => Date.now();',
    reportedAs: ['lost', 'state'],
    showsIn: ['clock set back'],
  },
  {
    name: 'a quarantine that clears the oldest suspect of a partition at each unclean shutdown',
    file: 'src/engine/quarantine/crashRecord.ts',
    find: 'number > position && !isDone(number));',
    replace: 'number > position && !isDone(number)).slice(1);',
    reportedAs: ['lost', 'state'],
    showsIn: ['a message ends the process'],
  },
  {
    name: 'a reader that waits for ever for a hub that does not answer',
    file: 'src/hub/reading/eventHubConnection.ts',
    find: 'if (silent.length === 0) return;',
    replace: 'if (silent.length < 1_000) return;',
    reportedAs: ['lost', 'state'],
    showsIn: ['hub does not answer'],
  },
  {
    name: 'a decoder that fails at a body beyond its bounds',
    file: 'src/hub/boundedDecoding.ts',
    find: 'const whole = areDecodable ?',
    replace: `if (!areDecodable) throw new RangeError('beyond the bounds');
    const whole = areDecodable ?`,
    reportedAs: ['lost'],
    showsIn: calm,
  },
  {
    name: 'a quarantine that parks a message that was in work at one unclean shutdown, alone or not',
    file: 'src/engine/quarantine/quarantine.ts',
    find: 'const { ends } = known.get(sequenceNumber) ?? unknown;',
    replace: 'const ends = crashRecord?.suspects.has(sequenceNumber) ? endsUntilParked : 0;',
    reportedAs: ['lost'],
    showsIn: ['a message ends the process'],
  },
  {
    name: 'a checkpoint before the work is done',
    file: 'src/engine/partition/partition.ts',
    find: 'begin: (event) => checkpoints.begin(see(event)),',
    replace: `begin: (event) => {
      const begun = checkpoints.begin(see(event));
      checkpoints.end(begun);
      return begun;
    },`,
    reportedAs: ['lost'],
    showsIn: ['kill', 'kill'],
  },
  {
    name: 'one message too many remembered as done',
    file: 'src/engine/progress/tracked.ts',
    find: 'before !== undefined && isDone(before, sequenceNumber)',
    replace: 'before !== undefined && (isDone(before, sequenceNumber) || isDone(before, sequenceNumber - 1))',
    reportedAs: ['lost'],
    showsIn: ['kill', 'kill'],
  },
  {
    name: 'no last checkpoint',
    file: 'src/engine/partition/partition.ts',
    find: '      await checkpoints.flush();\n',
    replace: '',
    reportedAs: ['state', 'duplicated'],
    showsIn: ['restart'],
  },
  {
    name: 'two messages of a device swapped',
    file: 'src/engine/order/lanes.ts',
    find: `      lane.last.next = message;
      lane.last = message;`,
    replace: `      if (lane.length === 1) lane.last = message;
      lane.first.next = Object.assign(message, { next: lane.first.next });`,
    reportedAs: ['inverted'],
    showsIn: calm,
  },
  {
    name: 'two messages of a device at the same time',
    file: 'src/engine/partition/intake.ts',
    find: 'const { event, deviceId } = arrival;',
    replace: `const { event } = arrival;
    const deviceId = \`\${arrival.deviceId} \${event.sequenceNumber % 2}\`;`,
    reportedAs: ['inverted'],
    showsIn: calm,
  },
  {
    name: 'the messages of a flooding device in another order',
    file: 'src/engine/order/lanes.ts',
    find: `      lane.last.next = message;
      lane.last = message;`,
    replace: `      const before = lane.length < 16 ? lane.last : lane.first;
      if (before === lane.last) lane.last = message;
      before.next = Object.assign(message, { next: before.next });`,
    reportedAs: ['inverted'],
    showsIn: calm,
  },
  {
    name: 'an acknowledgement dropped',
    file: 'src/dispatch/respond.ts',
    find: 'if (wantsAck(envelope.ack, failure === undefined)) {',
    replace: `if (wantsAck(envelope.ack, failure === undefined) && !envelope.correlationId?.endsWith('-7')) {`,
    reportedAs: ['wrong acknowledgement'],
    showsIn: calm,
  },
  {
    name: 'an acknowledgement twice, under two message ids',
    file: 'src/dispatch/respond.ts',
    find: 'await send(acknowledge(envelope, resultOf({ ...handled, failure }), now));',
    replace: `const result = resultOf({ ...handled, failure });
      await send(acknowledge(envelope, result, now));
      if (envelope.correlationId?.endsWith('-7')) await send(acknowledge({ ...envelope, attempts: 9 }, result, now));`,
    reportedAs: ['wrong acknowledgement'],
    showsIn: calm,
  },
  {
    name: 'a wrong code',
    file: 'src/dispatch/respond.ts',
    find: `    code: failure?.code ?? 'ok',`,
    replace: `    code: failure && envelope.correlationId?.endsWith('7') ? 'not_authorized' : (failure?.code ?? 'ok'),`,
    reportedAs: ['wrong acknowledgement'],
    showsIn: calm,
  },
  {
    name: 'a notification left out',
    file: 'src/dispatch/respond.ts',
    find: 'const notifications = (outcome?.notifications ?? []).map(',
    replace: `const told = (outcome?.notifications ?? []).slice(envelope.correlationId?.endsWith('7') ? 1 : 0);
    const notifications = told.map(`,
    reportedAs: ['uncounted'],
    showsIn: calm,
  },
  {
    name: 'an effect done twice',
    file: 'src/messages/identity.update.ts',
    find: 'await principalManager.updateIdentity(principal.id, json.text);',
    replace: `await principalManager.updateIdentity(principal.id, json.text);
    if (json.text.endsWith('7"}')) await principalManager.updateIdentity(principal.id, json.text);`,
    reportedAs: ['duplicated'],
    showsIn: calm,
  },
  {
    name: 'a repeat taken for a new message',
    file: 'src/engine/partition/partition.ts',
    find: 'arrivalOf(event, redeliveryHorizon.redelivered(event.sequenceNumber))',
    replace: 'arrivalOf(event, event.sequenceNumber < 0)',
    reportedAs: ['duplicated', 'state'],
    showsIn: ['kill', 'kill'],
  },
  {
    name: 'a failed message that is not among the dead letters',
    file: 'src/dispatch/dispatch.ts',
    find: 'await letters.park(arrival, handled.failure, course.traceparent);',
    replace: 'void letters;',
    reportedAs: ['lost'],
    showsIn: ['backend error of one device'],
  },
  {
    name: 'an acknowledgement to another device',
    file: 'src/protocol/acknowledgement.ts',
    find: 'deviceId: envelope.deviceId,',
    replace: `deviceId: envelope.correlationId?.endsWith('-7') ? 'device-0' : envelope.deviceId,`,
    reportedAs: ['wrong acknowledgement'],
    showsIn: calm,
  },
  {
    name: 'a dead letter for a success',
    file: 'src/dispatch/dispatch.ts',
    find: 'else if (arrival.redelivered) await letters.release(arrival); // C1',
    replace: `else if (envelope.correlationId?.endsWith('-7')) {
      await letters.park(arrival, new Rejection('internal_platform_error', 'none'), course.traceparent);
    } else if (arrival.redelivered) await letters.release(arrival);`,
    reportedAs: ['state'],
    showsIn: calm,
  },
  {
    name: 'a wrong version of the interface in an acknowledgement',
    file: 'src/protocol/acknowledgement.ts',
    find: "version: '2',",
    replace: "version: correlationId?.endsWith('7') ? '3' : '2',",
    reportedAs: ['wrong acknowledgement'],
    showsIn: calm,
  },
  {
    name: 'a wrong version of the object in an acknowledgement',
    file: 'src/messages/model.update.ts',
    find: 'version: versionOf(stored)',
    replace: `version: json.text.includes('7"}') ? 1n : versionOf(stored)`,
    reportedAs: ['wrong acknowledgement'],
    showsIn: calm,
  },
  {
    name: 'an acknowledgement without its target',
    file: 'src/protocol/acknowledgement.ts',
    find: 'target,\n    timestamp',
    replace: `target: '',\n    timestamp`,
    reportedAs: ['wrong acknowledgement'],
    showsIn: calm,
  },
  {
    name: 'an acknowledgement without the id of the object',
    file: 'src/protocol/acknowledgement.ts',
    find: 'fields: Readonly<Record<string, unknown>>): string {\n',
    replace: `fields: Readonly<Record<string, unknown>>): string {
  if (String(fields['objectId']).startsWith('7')) return jsonOf({ ...fields, objectId: undefined });
`,
    reportedAs: ['wrong acknowledgement'],
    showsIn: calm,
  },
  {
    name: 'a wrong system property',
    file: 'src/hub/replies/encoding.ts',
    find: '  at += ending.length;',
    replace: "  at += ending.length;\n  if (messageId.endsWith('7')) bytes[at - 1] = 57; // utf-9",
    reportedAs: ['wrong acknowledgement', 'wrong notification'],
    showsIn: calm,
  },
  {
    name: 'replies sent once more after a reconnect',
    file: 'src/hub/replies/serviceClient.ts',
    find: 'onSent?.();',
    replace: `onSent?.();
      const all = ((globalThis as { told?: { by: Client; reply: Reply }[] }).told ??= []);
      const again = all.filter(({ by }) => by !== client).slice(-50);
      all.splice(0, all.length, ...all.filter(({ by }) => by === client), { by: client, reply });
      for (const { reply: said } of again) void outcomeOf(said);`,
    reportedAs: ['wrong acknowledgement'],
    showsIn: ['hub restart'],
  },
  {
    name: 'a message id that is not derived from the event',
    file: 'src/protocol/envelope.ts',
    find: 'derivedId(eventId, attempts === 0 ?',
    replace: "derivedId(eventId, attempts === 0 ? 'answer ' + about : attempts === 1 ?",
    reportedAs: ['wrong acknowledgement', 'wrong notification'],
    showsIn: calm,
  },
  {
    name: 'an acknowledgement with an old time',
    file: 'src/protocol/acknowledgement.ts',
    find: 'timestamp: now.toISOString()',
    replace: 'timestamp: new Date(now.getTime() - 60_000).toISOString()',
    reportedAs: ['wrong acknowledgement'],
    showsIn: calm,
  },
  {
    name: 'a dead letter of another place',
    file: 'src/deadLetters/parking.ts',
    find: 'deadLetters.park({ event, generation, deviceId, origin, ...why })',
    replace: "deadLetters.park({ event, generation, deviceId, origin: { ...origin, partition: '0' }, ...why })",
    reportedAs: ['state'],
    showsIn: ['backend error of one device', 'backend error of one device'],
  },
  {
    name: 'a dead letter that counts an attempt too many',
    file: 'src/deadLetters/parking.ts',
    find: 'attempts: attempts + 1',
    replace: 'attempts: attempts + 2',
    reportedAs: ['state'],
    showsIn: ['backend error of one device'],
  },
  {
    name: 'a dead letter with the trace of nothing',
    file: 'src/dispatch/dispatch.ts',
    find: 'await letters.park(arrival, handled.failure, course.traceparent);',
    replace: 'await letters.park(arrival, handled.failure, newTraceparent(derivedTraceId(randomUUID())));',
    reportedAs: ['state'],
    showsIn: ['backend error of one device'],
  },
  {
    name: 'a reply counted twice',
    file: 'src/observing/messageRecords.ts',
    find: "number < sent; number += 1) countReply('delivered');",
    replace: "number < sent + (ms > 100 ? 1 : 0); number += 1) countReply('delivered');",
    reportedAs: ['uncounted'],
    showsIn: ['backend slow'],
  },
  {
    name: 'replies given up after milliseconds instead of seconds',
    file: 'src/hub/replies/replies.ts',
    find: 'maxWaitMs: maxWaitSeconds * 1000,',
    replace: 'maxWaitMs: maxWaitSeconds,',
    reportedAs: ['uncounted'],
    showsIn: ['reply unanswered'],
  },
];
