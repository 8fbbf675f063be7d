import { adminFaults } from './adminFaults.ts';
import { amqpFaults } from './amqpFaults.ts';
import { answerFaults } from './answerFaults.ts';
import { backendFaults } from './backendFaults.ts';
import { clockFaults } from './clockFaults.ts';
import { deadLetterFaults } from './deadLetterFaults.ts';
import { deliveryFaults } from './deliveryFaults.ts';
import { detailFaults } from './detailFaults.ts';
import { edgeFaults } from './edgeFaults.ts';
import { edgeMetricFaults } from './edgeMetricFaults.ts';
import { emulatorFaults } from './emulatorFaults.ts';
import { failoverFaults } from './failoverFaults.ts';
import { identityFaults } from './identityFaults.ts';
import { methodFaults } from './methodFaults.ts';
import { methodMetricFaults } from './methodMetricFaults.ts';
import { metricFaults } from './metricFaults.ts';
import { outageFaults } from './outageFaults.ts';
import { quarantineFaults } from './quarantineFaults.ts';
import { readingFaults } from './readingFaults.ts';
import { settingFaults } from './settingFaults.ts';
import { standstillFaults } from './standstillFaults.ts';
import { stateFaults } from './stateFaults.ts';
import { traceFaults } from './traceFaults.ts';
import { waitingFaults } from './waitingFaults.ts';
import { workaroundFaults } from './workaroundFaults.ts';

/** One deliberate fault that StrykerJS does not make (D395), and the test that must notice it. */
export interface Fault {
  readonly fault: string;
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** Test files, or folders of them. */
  readonly tests: readonly string[];
  /** Part of the title of the test that names the rule. */
  readonly caughtBy: string;
}

const table = (name: string) => `test/messages/${name}.test.ts`;
const created = table('v1/Svc.Device.Created');
const updated = table('v1/Svc.Device.Updated');
const synced = table('v1/Svc.Device.SyncModel');
const creating = [table('model.create'), created];
const updating = [table('model.update'), updated];
const answering = [
  'test/dispatch/dispatch.test.ts',
  'test/docs/acknowledgements.test.ts',
  table('identity.delete'),
  created,
  synced,
];
const protocol = ['test/protocol'];

const inFile =
  (file: string, tests: readonly string[]) =>
  (fault: string, find: string, replace: string, caughtBy: string): Fault => ({
    fault,
    file,
    find,
    replace,
    tests,
    caughtBy,
  });

const createOrUpdate = inFile('src/objectModel/createOrUpdate.ts', creating);
const replace = inFile('src/objectModel/replace.ts', updating);
const collect = inFile('src/objectModel/collect.ts', [synced]);
const subscribers = inFile('src/objectModel/subscribers.ts', creating);
const requestedNotifications = inFile('src/objectModel/requestedNotifications.ts', [created, synced]);
const relatedModels = inFile('src/objectModel/relatedModels.ts', creating);
const modelCreate = inFile('src/messages/model.create.ts', creating);
const typeCreate = inFile('src/messages/type.create.ts', [table('type.create')]);
const identityDelete = inFile('src/messages/identity.delete.ts', [table('identity.delete')]);
const deviceCreated = inFile('src/messages/v1/Svc.Device.Created.ts', [created]);
const deviceUpdated = inFile('src/messages/v1/Svc.Device.Updated.ts', [updated]);
const syncModel = inFile('src/messages/v1/Svc.Device.SyncModel.ts', [synced]);
const answer = inFile('src/dispatch/respond.ts', answering);
const checks = inFile('src/card/checks.ts', [...answering, ...creating]);
const envelope = inFile('src/protocol/envelope.ts', [...protocol, ...answering]);
const acknowledgement = inFile('src/protocol/acknowledgement.ts', [...protocol, created]);
const costs = inFile('src/card/checks.ts', ['test/cost.test.ts']);
const jsonPass = inFile('src/protocol/jsonPass.ts', protocol);
const jsonTokens = inFile('src/protocol/jsonTokens.ts', protocol);
const jsonKeys = inFile('src/protocol/jsonKeys.ts', protocol);
const dispatching = inFile('src/dispatch/dispatch.ts', answering);
const event = inFile('src/protocol/event.ts', [...protocol, ...creating]);
const body = inFile('src/protocol/body.ts', protocol);
const fields = inFile('src/protocol/fields.ts', protocol);

export const faults: readonly Fault[] = [
  createOrUpdate(
    'updates with the version of the request',
    "withMember(body, 'version', at.version)",
    'body.text',
    'updates it with the stored version',
  ),
  createOrUpdate(
    'updates another object that has the same unique properties',
    'identity.objectId ?? (isGuid(named) ? named : identity.derivedId)',
    'isGuid(named) ? named : (identity.objectId ?? identity.derivedId)',
    'updates no other object than the one it names',
  ),
  createOrUpdate(
    'accepts an owner nobody knows',
    'const principal = await principalManager.resolve(owner);',
    "const principal = (await principalManager.resolve(owner)) ?? { id: '11111111-1111-4111-8111-111111111111' };",
    'refuses an owner that is not connected through the device',
  ),
  createOrUpdate(
    'creates a V1 model without its model id',
    "body.members.has('model') ? body.text : withMember(body, 'model', JSON.stringify(model))",
    'body.text',
    'passes the body on byte for byte, except the missing model',
  ),
  modelCreate(
    'derives an objectId although one is given',
    'derivedId: isAbsent ? derivedId(',
    'derivedId: eventId ? derivedId(',
    'with the objectId of the request',
  ),
  modelCreate(
    'forgets the publish-subscribe notification',
    'await configurationNews(registered, backends)',
    '{}',
    'sends the svc.configuration model of the same object to the device',
  ),
  relatedModels(
    'shows devices which related models were created',
    'details: shortened(details) }',
    'details: shortened(details), ...{ created } }',
    'reports every related model, without which ones were created',
  ),
  replace(
    'closes a gap that is one too large',
    'gap > BigInt(maxVersionGap)',
    'gap > BigInt(maxVersionGap) + 1n',
    'refuses a gap of 101',
  ),
  typeCreate(
    'takes a type of one byte too many',
    'maxBodyBytes: 65_536',
    'maxBodyBytes: 65_537',
    'refuses a type definition of one byte more',
  ),
  typeCreate(
    'refuses a type of just the limit',
    'maxBodyBytes: 65_536',
    'maxBodyBytes: 65_535',
    'accepts a type definition of exactly 65,536 bytes',
  ),
  identityDelete(
    'deletes the device when no identity is named',
    'jsonObject({ identity: identityName })',
    "jsonObject({ identity: identityName.default('') })",
    'never deletes the device itself',
  ),
  identityDelete(
    'spells the key "details"',
    "detailsKey: 'detail',",
    '',
    'the acknowledgement says "detail", not "details"',
  ),
  deviceCreated(
    'sends the objectId in a failed acknowledgement',
    'return { properties: known, fields',
    'return { properties: { ...known, objectId: String(properties["objectId"]) }, fields',
    'the acknowledgement names no object',
  ),
  deviceCreated(
    'forgets the notification when the parent reference fails',
    'notifications: [notification, ...configuration.notifications],',
    'notifications: failure ? [] : [notification, ...configuration.notifications],',
    'the notification is sent, the acknowledgement names no object',
  ),
  deviceCreated(
    'notifies of the configuration before the requested model',
    '[notification, ...configuration.notifications]',
    '[...configuration.notifications, notification]',
    'sends the requested model first',
  ),
  deviceUpdated(
    'acknowledges the stored version',
    'return done({ version: versionIn(json) ?? BigInt(body.version) });',
    'return done({ version: BigInt(body.version + 1) });',
    'and answers the request’s',
  ),
  deviceUpdated(
    'takes the objectId from the body alone',
    'objectId: guid, model: modelId.optional()',
    'objectId: guid.optional().default("aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"), model: modelId.optional()',
    'refuses an objectId that is in the body only',
  ),
  syncModel(
    'takes null for an option',
    '.nullish()\n  .transform((value) => value === true)',
    '.nullish()\n  .transform((value) => value !== undefined)',
    'have no effect when they are false, null or empty:',
  ),
  collect(
    'follows references that are not contained',
    '(reference) => isMarked(reference, containment)',
    '() => true',
    'are fetched over references with isContained, or isContainment, when contained is true',
  ),
  collect(
    'leaves the requested model id',
    'const childOf = objectOf(model);',
    "const childOf = (one: Reference) => objectOf('svc.device')(one) ?? objectOf(model)(one);",
    'within the requested model id only',
  ),
  collect(
    'fetches no related models of children',
    'const beside = await fetchAll(',
    'const beside = depth > 0 ? [] : await fetchAll(',
    'for every child as well',
  ),
  subscribers(
    'sends the configuration to the requesting target',
    "target: target.join('/'),",
    "target: '',",
    'sends the svc.configuration model of the same object to the device',
  ),
  subscribers(
    'sends the configuration to the owner of another model',
    'pathOf(configuration) ?? pathOf(stored)',
    'pathOf(stored)',
    'is the owner of the svc.configuration model',
  ),
  subscribers(
    'sends only configurations with an owner of their own',
    'pathOf(configuration) ?? pathOf(stored)',
    'pathOf(configuration)',
    'is the owner of the svc.device model when the other path is missing',
  ),
  subscribers(
    'always says that the configuration was updated',
    'createdModels.includes(configurationModel)',
    'createdModels.includes("")',
    'sends ObjectModelCreated when this request created the svc.configuration model',
  ),
  requestedNotifications(
    'mixes up created and updated',
    'eventType: created ?',
    'eventType: !created ?',
    'ObjectModelCreated',
  ),
  requestedNotifications(
    'forgets the target',
    'target,\n  objectId',
    "target: '',\n  objectId",
    'target of the request',
  ),
  answer(
    'acknowledges before it notifies',
    'const undelivered = notifications.length === 0 ? undefined : await sendNotifications(notifications);',
    'const undelivered = undefined; setImmediate(() => void sendNotifications(notifications));',
    'then the acknowledgement',
  ),
  checks(
    'reads a key that occurs twice',
    'return [...twice, ...excesses];',
    'return excesses;',
    'refuses a body in which objectId occurs twice',
  ),
  checks(
    'compares members only when nothing else is wrong',
    'isComparable ?',
    'isComparable && faulty.size === 0 ?',
    'lists contradictions to the properties beside malformed members, and compares no malformed member',
  ),
  inFile('src/card/checks.ts', [updated])(
    'compares members that occur twice',
    '.filter(([key]) => !faulty.has(key))',
    '',
    'lists duplicate members beside the other faults, and compares no duplicate',
  ),
  costs(
    'parses a list of any length',
    'return [...twice, ...excesses];',
    'return twice;',
    'is refused without a check of its values when it has more than 1,000',
  ),
  dispatching(
    'does not give back what the body did not need',
    'keep(bytesHeld(event, json));',
    '',
    'is undone before the body is read; unneeded reserved memory is released then, and the rest before the answer',
  ),
  envelope(
    'is one byte too generous with headers',
    'propertyBytes(properties) > maxPropertyBytes',
    'propertyBytes(properties) > maxPropertyBytes + 1',
    'are refused at one byte more',
  ),
  envelope(
    'acknowledges failures to who wants successes',
    "success ? 'positive' : 'negative'",
    "success ? 'negative' : 'positive'",
    'the truth table of acknowledgements holds',
  ),
  envelope('accepts another version', "version: z.literal('2',", 'version: z.string(', 'must have version 2'),
  envelope(
    'answers header overflow with the generation’s code',
    "'platform_event_validation_error',\n        `the message",
    'grammar.invalid,\n        `the message',
    'with a code of their own',
  ),
  acknowledgement('forgets the timestamp', 'timestamp: now.toISOString(),', '', 'has these properties and no others'),
  jsonPass('lets the first of two members win', 'known.start = start;', '', 'the last of two members counts'),
  jsonTokens(
    'takes control characters in strings',
    'code >= space && code !== quote',
    'code !== quote',
    'accepts what JSON.parse accepts',
  ),
  jsonPass(
    'closes an array like an object',
    'if (next !== (inObject ? closeBrace : closeBracket)) throw',
    'if (next !== closeBrace && next !== closeBracket) throw',
    'accepts what JSON.parse accepts',
  ),
  jsonKeys(
    'does not know an escaped key',
    'if (code === backslash) return escaped(bytes, from, to);',
    'if (code === backslash) return undefined;',
    'are found at their positions in any escaping, and the others are only counted',
  ),
  jsonKeys(
    'takes the beginning of a key for the key',
    'return to - from === name.length ? only.name : undefined;',
    'return only.name;',
    'are found at their positions in any escaping, and the others are only counted',
  ),
  event(
    'gives every delivery new ids',
    'uuidv5(JSON.stringify([hub,',
    'uuidv5(Math.random() + JSON.stringify([hub,',
    'are the same for the same event, however often it is delivered',
  ),
  body(
    'inflates without limit',
    'maxOutputLength: most,',
    'maxOutputLength: 1e9,',
    'is refused beyond the limit when inflated',
  ),
  body(
    'reserves no room for what a body inflates to',
    'perByte * Math.min(maxInflated, mostInflated * received)',
    'perByte * received',
    'is the largest inflated size when the message declares compression',
  ),
  fields(
    'lets paths climb',
    String.raw`\.{1,2}(?:/|$)`,
    String.raw`\.(?:/|$)`,
    '"edge/../other" is a connectivity path: false',
  ),
  ...deadLetterFaults,
  ...deliveryFaults,
  ...waitingFaults,
  ...detailFaults,
  ...quarantineFaults,
  ...settingFaults,
  ...outageFaults,
  ...methodFaults,
  ...edgeFaults,
  ...edgeMetricFaults,
  ...workaroundFaults,
  ...readingFaults,
  ...backendFaults,
  ...answerFaults,
  ...methodMetricFaults,
  ...metricFaults,
  ...failoverFaults,
  ...standstillFaults,
  ...clockFaults,
  ...stateFaults,
  ...amqpFaults,
  ...emulatorFaults,
  ...identityFaults,
  ...traceFaults,
  ...adminFaults,
];
