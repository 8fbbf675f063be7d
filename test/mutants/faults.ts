/** One deliberate fault, and the test that must notice it. */
export interface Fault {
  readonly fault: string;
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** Test files to run. */
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
  'test/dispatch.test.ts',
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
const parent = inFile('src/objectModel/parent.ts', [created]);
const subscribers = inFile('src/objectModel/subscribers.ts', creating);
const requestedNews = inFile('src/objectModel/requestedNews.ts', [created, synced]);
const storedModel = inFile('src/objectModel/storedModel.ts', creating);
const uniqueValues = inFile('src/objectModel/uniqueValues.ts', creating);
const modelCreate = inFile('src/messages/model.create.ts', creating);
const typeCreate = inFile('src/messages/type.create.ts', [table('type.create')]);
const identityUpdate = inFile('src/messages/identity.update.ts', [table('identity.update')]);
const identityDelete = inFile('src/messages/identity.delete.ts', [table('identity.delete')]);
const deviceCreated = inFile('src/messages/v1/Svc.Device.Created.ts', [created]);
const deviceUpdated = inFile('src/messages/v1/Svc.Device.Updated.ts', [updated]);
const syncModel = inFile('src/messages/v1/Svc.Device.SyncModel.ts', [synced]);
const subject = inFile('src/messages/v1/subject.ts', [created, updated, synced]);
const answer = inFile('src/answer.ts', answering);
const checks = inFile('src/messages/checks.ts', [...answering, ...creating]);
const envelope = inFile('src/protocol/envelope.ts', [...protocol, ...answering]);
const acknowledgement = inFile('src/protocol/acknowledgement.ts', [...protocol, created]);
const notification = inFile('src/protocol/notification.ts', [created, synced]);
const json = inFile('src/protocol/json.ts', [...protocol, ...creating]);
const event = inFile('src/protocol/event.ts', [...protocol, ...creating]);
const body = inFile('src/protocol/body.ts', protocol);
const fields = inFile('src/protocol/fields.ts', protocol);

export const faults: readonly Fault[] = [
  createOrUpdate('skips the claim', 'if (at.ownerId === undefined) await', 'if (at.ownerId === null) await', '?'),
  createOrUpdate(
    'updates with the version of the request',
    "withMember(body, 'version', at.version)",
    'body.text',
    '?',
  ),
  createOrUpdate(
    'looks up by unique properties although an objectId is given',
    'if (objectId !== undefined) return backends',
    'if (objectId === null) return backends',
    '?',
  ),
  createOrUpdate(
    'trusts every hit of the look-up',
    'isOf(hit, model, type) && hasValues(hit, values)',
    'Boolean(hit)',
    '?',
  ),
  createOrUpdate(
    'takes a model of another type for a lost race',
    'if (theirs !== undefined && theirs.typeId !== identity.type?.typeId) throw conflict;',
    '',
    '?',
  ),
  createOrUpdate(
    'does not recognise its own earlier creation',
    'const isOurs = objectId === identity.derivedId && locate(existing).ownerId === ownerId;',
    'const isOurs = false;',
    '?',
  ),
  createOrUpdate(
    'updates its own creation of an earlier delivery',
    'const isOurs = found !== undefined && locate(found).objectId === identity.derivedId;',
    'const isOurs = false;',
    '?',
  ),
  createOrUpdate(
    'updates another object that has the same unique properties',
    'identity.objectId ?? (isGuid(named) ? named : identity.derivedId)',
    'isGuid(named) ? named : (identity.objectId ?? identity.derivedId)',
    'updates no other object than the one it names',
  ),
  createOrUpdate('gives up after the first lost race', 'race === mostRaces', 'race === 1', '?'),
  createOrUpdate(
    'accepts an owner nobody knows',
    'const principal = await principalManager.resolve(owner);',
    "const principal = (await principalManager.resolve(owner)) ?? { id: '11111111-1111-4111-8111-111111111111' };",
    '?',
  ),
  createOrUpdate(
    'reads a unique property that occurs twice',
    'if (twice !== undefined) throw',
    'if (twice === null) throw',
    '?',
  ),
  createOrUpdate(
    'creates a V1 model without its model id',
    "body.members.has('model') ? body.text : withMember(body, 'model', JSON.stringify(model))",
    'body.text',
    '?',
  ),
  modelCreate(
    'derives an objectId although one is given',
    'derivedId: objectId === undefined ? derivedId(',
    'derivedId: objectId !== null ? derivedId(',
    '?',
  ),
  modelCreate(
    'uses an objectId that is no GUID',
    "if (members.has('objectId') && !isGuid(objectId)) return nobody;",
    '',
    '?',
  ),
  modelCreate('forgets the publish-subscribe notification', 'await configurationNews(registered, backends)', '{}', '?'),
  modelCreate('leaves relatedModels out of a failure', 'fields: { relatedModels: [] }', 'fields: {}', '?'),
  uniqueValues('does not unwrap unique values', 'return isWrapped ? memberOf', 'return value === null ? memberOf', '?'),
  storedModel(
    'shows devices which related models were created',
    'related.map((one) => relatedModel.parse(one))',
    'related',
    '?',
  ),
  storedModel(
    'leaves relatedModels in the notification',
    "parseJson(withoutMember(answer, 'relatedModels'))",
    'answer',
    '?',
  ),
  replace('closes a gap that is one too large', 'gap > BigInt(maxVersionGap)', 'gap > BigInt(maxVersionGap) + 1n', '?'),
  replace('refuses a gap that is just allowed', 'gap > BigInt(maxVersionGap)', 'gap >= BigInt(maxVersionGap)', '?'),
  replace('stops one update early', '> requested(body))', '>= requested(body))', '?'),
  replace('overwrites a newer version', 'if (gap < 0n) throw refusal;', '', '?'),
  typeCreate('takes a type of one byte too many', 'maxBodyBytes: 65_536', 'maxBodyBytes: 65_537', '?'),
  typeCreate('refuses a type of just the limit', 'maxBodyBytes: 65_536', 'maxBodyBytes: 65_535', '?'),
  identityUpdate(
    'applies the parent to the device itself',
    "principalManager.resolve('')",
    'principalManager.resolve(parent)',
    '?',
  ),
  identityUpdate('loses the context', 'context === undefined ? {} : { properties: { context } }', '{}', '?'),
  identityDelete(
    'deletes the device when no identity is named',
    'jsonObject({ identity: identityName })',
    "jsonObject({ identity: identityName.default('') })",
    '?',
  ),
  identityDelete('spells the key "details"', "detailsKey: 'detail',", '', '?'),
  deviceCreated(
    'sends the objectId in a failed acknowledgement',
    'return { properties: known, fields',
    'return { properties: { ...known, objectId: String(properties["objectId"]) }, fields',
    '?',
  ),
  deviceCreated(
    'forgets the notification when the parent reference fails',
    'notifications: [requestedNews(registered, envelope), ...configuration.notifications],',
    'notifications: failure ? [] : [requestedNews(registered, envelope), ...configuration.notifications],',
    '?',
  ),
  deviceCreated(
    'notifies of the configuration before the requested model',
    '[requestedNews(registered, envelope), ...configuration.notifications]',
    '[...configuration.notifications, requestedNews(registered, envelope)]',
    '?',
  ),
  deviceCreated('forgets the parent', 'body.parent && (await', 'body.parent === null && (await', '?'),
  parent('changes the parent', '} else if (!isWanted(existing)) {', '} else if (existing === null) {', '?'),
  parent('does not mark the parent reference', "'isParent', 'true'", "'isChild', 'true'", '?'),
  deviceUpdated(
    'acknowledges the stored version',
    'return done({ version: body.version });',
    'return done({ version: body.version + 1 });',
    '?',
  ),
  deviceUpdated(
    'takes the objectId from the body alone',
    'objectId: guid, model: modelId.optional()',
    'objectId: guid.optional().default("aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"), model: modelId.optional()',
    '?',
  ),
  subject('lets properties and body disagree', 'if (faults.length > 0) {', 'if (faults.length > 9) {', '?'),
  syncModel(
    'takes null for an option',
    '.nullish()\n  .transform((value) => value === true)',
    '.nullish()\n  .transform((value) => value !== undefined)',
    '?',
  ),
  syncModel(
    'takes [null] for an option',
    '.filter((value) => value !== null)',
    '.map((value) => value ?? "null")',
    '?',
  ),
  syncModel('allows contradicting options', 'if (!allowed) {', 'if (names.length > 9) {', '?'),
  syncModel('succeeds although a notification is lost', 'mustDeliver: true', 'mustDeliver: false', '?'),
  collect('walks in circles', 'return !visited.has(key) && visited.add(key);', 'return visited.add(key);', '?'),
  collect('goes one level too deep', '(recursive || depth === 0)', '(recursive || depth <= 1)', '?'),
  collect(
    'follows references that are not contained',
    'return isContained === true || isContainment === true;',
    'return true;',
    '?',
  ),
  collect(
    'leaves the requested model id',
    'to.model === model ? [{ objectId: to.objectId, model }] : []',
    '[{ objectId: to.objectId, model: to.model }]',
    '?',
  ),
  collect(
    'fetches no related models of children',
    'const beside = await fetchAll(level.flatMap',
    'const beside = depth > 0 ? [] : await fetchAll(level.flatMap',
    '?',
  ),
  collect(
    'has no limit on models',
    'if (visited.size > limits.maxSyncModels) throw',
    'if (visited.size > 1e9) throw',
    '?',
  ),
  collect('has no limit on bytes', 'if (bytes > limits.maxSyncBytes) throw', 'if (bytes > 1e12) throw', '?'),
  subscribers(
    'fails a request whose configuration cannot be read',
    'if (!(error instanceof Rejection)) throw error;',
    'throw error;',
    'counts as success when the svc.configuration model must not be read',
  ),
  subscribers('sends the configuration to the requesting target', "target: target.join('/'),", "target: '',", '?'),
  subscribers(
    'notifies for every model',
    'if (model !== defaultModel || path === undefined) return noNews;',
    'if (path === undefined) return noNews;',
    '?',
  ),
  subscribers(
    'always says that the configuration was updated',
    'createdModels.includes(configurationModel)',
    'createdModels.includes("")',
    '?',
  ),
  requestedNews('mixes up created and updated', 'eventType: created ?', 'eventType: !created ?', '?'),
  requestedNews('forgets the target', 'target,\n  objectId', "target: '',\n  objectId", '?'),
  notification('forgets the correlation id', '...(id === undefined ? {} : { id }),', '', '?'),
  answer(
    'acknowledges before it notifies',
    'const failure = (await sendNotifications(notifications)) ?? handled.failure;',
    'const failure = handled.failure; setImmediate(() => void sendNotifications(notifications));',
    '?',
  ),
  answer(
    'sends part of what does not fit',
    'if (mustDeliver && !notifications.every(fits)) {',
    'if (mustDeliver && notifications.length > 1e9) {',
    '?',
  ),
  checks('reads a key that occurs twice', 'if (twice.length > 0) {', 'if (twice.length > 9) {', '?'),
  checks('does not charge what it inflates', 'if (bytes !== body) charge(bytes.byteLength);', '', '?'),
  envelope(
    'is one byte too generous with headers',
    'propertyBytes(properties) > maxPropertyBytes',
    'propertyBytes(properties) > maxPropertyBytes + 1',
    '?',
  ),
  envelope(
    'acknowledges failures to who wants successes',
    "success ? 'positive' : 'negative'",
    "success ? 'negative' : 'positive'",
    '?',
  ),
  envelope('forgets the target', "target: properties['target'] ?? '',", "target: '',", '?'),
  envelope('does not count an unknown ack as all', "ack: ack ?? 'all'", "ack: ack ?? 'none'", '?'),
  envelope('accepts another version', "version: z.literal('2',", 'version: z.string(', '?'),
  envelope(
    'answers header overflow with the generation’s code',
    "'platform_event_validation_error',\n        `the message",
    'grammar.invalid,\n        `the message',
    '?',
  ),
  acknowledgement(
    'compresses V1',
    "const mayCompress = envelope.generation === 'V2';",
    'const mayCompress = true;',
    '?',
  ),
  acknowledgement(
    'does not compress for who compresses',
    "envelope.properties['content-encoding']?.toLowerCase() === 'gzip'",
    'false',
    '?',
  ),
  acknowledgement('forgets the timestamp', 'timestamp: now.toISOString(),', '', '?'),
  json(
    'lets the first of two members win',
    'members.set(level.key, { key: keyAt',
    'if (!members.has(level.key)) members.set(level.key, { key: keyAt',
    '?',
  ),
  event(
    'reads our own notifications',
    "eventType.startsWith('Svc.InformationModel.')",
    "eventType.startsWith('Svc.InformationModel.X')",
    '?',
  ),
  event('reads lifecycle events', "source === undefined || source === 'Telemetry'", 'true', '?'),
  event(
    'gives every delivery new ids',
    'uuidv5(JSON.stringify([hub,',
    'uuidv5(Math.random() + JSON.stringify([hub,',
    '?',
  ),
  body('inflates without limit', '{ maxOutputLength: maxInflated }', '{ maxOutputLength: 1e9 }', '?'),
  fields('lets paths climb', String.raw`\.{1,2}(?:/|$)`, String.raw`\.(?:/|$)`, '?'),
];
