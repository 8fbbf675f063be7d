import { expect, it } from 'vitest';
import { rules } from '../../backend-kit/rules/index.ts';
import type { World } from '../../sandbox/backends/world/world.ts';
import { broken, type Call, type Fault, type Reply, runWith } from './faulty.ts';

const create = /^POST \/object/;
const read = /^GET \/objects\/[^/]+\/models\/[^/]+$/;
const update = /^PUT \/objects\/[^/]+\/models\/[^/]+$/;
const claim = /^PUT .*\/owner$/;
const link = /^POST .*\/references\/out$/;
const links = /^GET .*\/references\/out$/;
const query = /^POST \/query/;
const ofObjects = /^\w+ \/(object|query)/;
const ofTypes = /^\w+ \/modelDefinitions/;
const newType = /^POST \/modelDefinitions/;
const readType = /^GET \/modelDefinitions/;
const ofIdentities = /^\w+ \/devices/;
const resolve = /^GET \/devices/;
const change = /^PUT \/devices/;
const remove = /^DELETE \/devices/;

const fits = ({ method, path }: Call, calls: RegExp) => calls.test(`${method} ${path}`);

const answer = (calls: RegExp, alter: (reply: Reply, call: Call) => void): Fault => ({
  answer(reply, call) {
    if (fits(call, calls)) alter(reply, call);
  },
});
/** Answers of one status get another one. */
const status = (calls: RegExp, from: number, to: number) =>
  answer(calls, (reply) => {
    if (reply.status === from) reply.status = to;
  });
/** What the answers of a status say is replaced. */
const says = (calls: RegExp, of: number, what: RegExp, by: string) =>
  answer(calls, (reply) => {
    if (reply.status === of) reply.body = reply.body.replace(what, by);
  });
/** What is asked is altered before the backend has it, or answered in its place. */
const ask = (calls: RegExp, alter: (call: Call, token: string) => unknown): Fault => ({
  request(call, token) {
    const reply = fits(call, calls) ? alter(call, token) : undefined;
    return typeof reply === 'object' && reply !== null ? reply : undefined;
  },
});
const through = (calls: RegExp, alter: (text: string) => string) =>
  ask(calls, (call) => {
    call.body = alter(call.body);
  });
const sent = (calls: RegExp, what: RegExp, by: string) => through(calls, (text) => text.replace(what, by));
type Header = (value: string | undefined, token: string) => string | undefined;
const header = (calls: RegExp, name: string, alter: Header) =>
  ask(calls, (call, token) => {
    call.headers[name] = alter(call.headers[name], token);
  });
const world = (alter: (world: World) => void): Fault => ({ world: alter });

/** Numbers become doubles. */
function reparsed(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}
const sorted = (text: string) =>
  text.replace(/"properties":\{([^{}]*)\}/, (_, inner) => `"properties":{${inner.split(',').sort().join()}}`);
const dataOf = (reply: Reply): Record<string, unknown>[] => JSON.parse(reply.body).data;
const isCaller = ({ headers: { authorization } }: Call) => authorization?.split('.').length === 3;

const keys = new Set<string>();
function isRepeat(key = ''): boolean {
  const isKnown = keys.has(key);
  keys.add(key);
  return isKnown;
}
const counts = { open: 0 };

// biome-ignore format: a fault is a line
/** What is wrong, the rule that has to notice it, and those that notice it, too. */
const faults: readonly (readonly [fault: string, noticedBy: string, others: string, Fault])[] = [
  // What all backends have in common, each time at one of them.
  ['a call needs no token', 'tr.token.missing', 'tr.token.challenge', header(ofTypes, 'authorization', (given, token) => given ?? `Bearer ${token}`)],
  ['each token counts', 'pm.token.unknown', '', header(ofIdentities, 'authorization', (given, token) => given && `Bearer ${token}`)],
  ['401 without a challenge', 'pm.token.challenge', '', answer(ofIdentities, ({ headers }) => { headers['www-authenticate'] = ''; })],
  ['a device header is made up', 'pm.device.missing', '', header(ofIdentities, 'x-svc-device-id', (given) => given ?? 'gateway-1')],
  ['unknown devices are taken in', 'tr.device.unknown', '', header(ofTypes, 'x-svc-device-id', (given) => given?.replace(/^kit-.*/, 'gateway-1'))],
  ['the device header is not decoded', 'im.device.encoded', '', header(ofObjects, 'x-svc-device-id', (given) => given?.replace('%', '%25'))],
  ['refusals have no body', 'tr.errors.body', 'tr.body.repeated tr.create.again-meta tr.errors.id', answer(ofTypes, (reply) => { if (reply.status >= 400) reply.body = ''; })],
  ['the code is a number', 'im.errors.body', '', answer(ofObjects, (reply) => { reply.body = reply.body.replace(/"code":"(\d+)"/, '"code":$1'); })],
  ['all refusals have one id', 'pm.errors.id', '', says(ofIdentities, 404, /"id":"[^"]*"/, '"id":"00000000-0000-4000-8000-000000000000"')],
  ['refusals repeat the request', 'im.errors.silent', '', answer(ofObjects, (reply, call) => { if (reply.status >= 400) reply.body = reply.body.replace(/"detail":"/, `"detail":${JSON.stringify(call.body).slice(0, -1)} `); })],
  ['malformed bodies are 500', 'tr.body.malformed', '', answer(newType, (reply, { body }) => { if (body === '{"type":') reply.status = 500; })],
  ['of repeated members the last counts', 'tr.body.repeated', '', through(newType, (text) => (text.includes('"version":"0.0"') ? reparsed(text) : text))],
  ['unknown routes are 200', 'im.route.unknown', '', status(/kit-no-such-route/, 404, 200)],
  ['wrong methods are 404', 'im.route.method', '', status(ofObjects, 405, 404)],
  ['connections are closed', 'im.keep-alive', '', answer(ofObjects, ({ headers }) => { headers['connection'] = 'close'; })],
  ['too many calls are 503 without Retry-After', 'tr.burst', '', { ...ask(readType, () => { counts.open++; }), ...answer(readType, (reply) => { if (counts.open-- > 2) reply.status = 503; }) }],
  ['the connection breaks off', 'im.read', '', answer(read, (reply) => { if (reply.status === 200 && reply.body.includes('"label":"read"')) reply.status = 0; })],
  ['answers are text/plain', 'pm.content-type', '', answer(ofIdentities, ({ headers }) => { headers['content-type'] = 'text/plain'; })],

  // The type registry.
  ['types are answered with 200', 'tr.create', 'tr.bytes tr.create.size tr.lost tr.read.encoded tr.read.latest tr.repeat', status(newType, 201, 200)],
  ['a type version is created again', 'tr.create.again', '', status(newType, 409, 201)],
  ['a conflict of types has no meta', 'tr.create.again-meta', '', says(newType, 409, /"meta":\{.*?\}/, '"meta":{}')],
  ['a wrong type definition is 500', 'tr.create.invalid', '', answer(newType, (reply, { body }) => { if (reply.status === 400 && /"one"|dataType":7/.test(body)) reply.status = 500; })],
  ['base types may be missing', 'tr.create.base-unknown', '', sent(newType, /"baseTypes":\["[^"]*none@1.0.0"\]/, '"baseTypes":[]')],
  ['types of 32 KiB at most', 'tr.create.size', '', ask(newType, ({ body }) => body.length > 32_768 && { status: 413 })],
  ['types forget their references', 'tr.read', '', says(readType, 200, /"references":\{("[\w-]+":\{\},?)*\}/, '"references":{}')],
  ['the latest version is the last one created', 'tr.read.latest', '', world(({ types }) => { const { find } = types; types.find = (tenant, model, ref) => (ref.selector === 'latest' ? types.list().findLast((one) => one.typeId === ref.typeId && one.model === model && (one.tenant ?? tenant) === tenant) : find(tenant, model, ref)); })],
  ['versions are compared as texts', 'tr.read.major', 'tr.read.unknown', world(({ types }) => { const { find } = types; types.find = (tenant, model, ref) => (typeof ref.selector === 'object' && 'major' in ref.selector ? types.list().filter(({ ref: name }) => name.startsWith(`${ref.typeId}@1.`)).sort((a, b) => (a.ref < b.ref ? 1 : -1))[0] ?? find(tenant, model, ref) : find(tenant, model, ref)); })],
  ['an unknown type is an empty one', 'tr.read.unknown', 'tr.device.encoded tr.read.model tr.tenant', answer(readType, (reply) => { if (reply.status === 404) Object.assign(reply, { status: 200, body: '{}' }); })],
  ['types belong to all model definitions', 'tr.read.model', '', ask(readType, (call) => { call.path = call.path.replace('svc.configuration', 'svc.device'); })],
  ['paths of types are not decoded', 'tr.read.encoded', '', ask(readType, (call) => { call.path = call.path.replaceAll('%', '%25'); })],
  ['unique properties are not resolved at all', 'tr.unique', 'tr.unique.base', says(readType, 200, /"uniqueProperties":\[[^\]]*\]/, '"uniqueProperties":[]')],
  ['unique properties of base types are forgotten', 'tr.unique.base', '', answer(readType, (reply) => { if (reply.body.includes('baseTypes')) reply.body = reply.body.replace(/"uniqueProperties":\[[^\]]*\]/, '"uniqueProperties":[]'); })],
  ['each property is unique', 'tr.unique.none', '', says(readType, 200, /"uniqueProperties":\[\]/, '"uniqueProperties":["label"]')],
  ['methods are forgotten', 'tr.methods', 'tr.read', says(readType, 200, /"methods":\{"stop":\{\},"configure":\{.*?\}\}\}\},/, '')],
  ['types go through doubles', 'tr.bytes', 'tr.body.repeated', through(newType, reparsed)],
  ['types of all tenants are shown', 'tr.tenant', '', header(readType, 'x-svc-device-id', (given) => (given === 'rival-1' ? 'gateway-1' : given))],
  ['types belong to devices', 'tr.tenant.shared', '', ask(readType, ({ headers }) => headers['x-svc-device-id'] === 'pump-2' && { status: 404 })],
  ['keys of types are ignored', 'tr.repeat', '', header(newType, 'idempotency-key', () => undefined)],
  ['a repeat of a type is 500', 'tr.lost', 'tr.repeat', ask(newType, ({ headers: { 'idempotency-key': key = '' } }) => isRepeat(key) && { status: 500 })],

  // Object models.
  ['creates are answered with 200', 'im.create', 'im.bytes.large im.create.null im.create.with-id im.create.wrapped im.lost.create im.related.failed', status(create, 201, 200)],
  ['creates are answered without the version', 'im.create.answer', 'im.read im.repeat.create', says(create, 201, /"version":1,/, '')],
  ['object ids are made by the backend', 'im.create.id', 'im.create.again im.create.again-meta im.lost.create', sent(/^POST \/object\?/, /"objectId":"[^"]*",/, '')],
  ['path is forgotten', 'im.create.owner', 'im.create.owner-child im.read', says(create, 201, /,"path":"[^"]*"/, '')],
  ['the device owns all', 'im.create.owner-child', 'im.create.owner-unknown im.device.owner', ask(create, (call) => { call.path = call.path.replace(/\?.*/, ''); })],
  ['owners are not looked up', 'im.create.owner-unknown', '', ask(create, (call) => { if (/-rack"/.test(call.body)) call.path = call.path.replace(/\?.*/, ''); })],
  ['object ids must be given', 'im.create.generated', '', ask(/^POST \/object\?/, ({ body }) => !body.includes('objectId') && body.includes('machine') && { status: 400 })],
  ['V1 creates are unknown', 'im.create.with-id', '', ask(/^POST \/objects\/[^/]*\?/, () => ({ status: 404 }))],
  ['a second create succeeds', 'im.create.again', 'im.create.race im.create.unique im.create.unique-derived', status(create, 409, 200)],
  ['a conflict has no meta', 'im.create.again-meta', 'im.create.unique', says(create, 409, /"meta":\{.*?\}/, '"meta":{}')],
  ['unique values are not checked', 'im.create.unique', 'im.create.race im.create.unique-derived im.device.unique', world(({ objects }) => { objects.holders = () => []; })],
  ['creates at once are all made', 'im.create.race', '', answer(create, (reply, { body }) => { if (/"label":"[abcd]"/.test(body)) reply.status = 201; })],
  ['each unique value counts for itself', 'im.create.unique-group', '', ask(create, ({ body }) => body.includes('-other"') && { status: 409 })],
  ['unique properties of base types do not count', 'im.create.unique-derived', '', world(({ objects }) => { const { holders } = objects; objects.holders = (tenant, type, properties) => (type.baseTypes.size > 0 ? [] : holders(tenant, type, properties)); })],
  ['a type without version is its first', 'im.create.type-latest', '', sent(create, /"type":"(kit-[^"@]*-machine)"/, '"type":"$1@1.9.0"')],
  ['a major version is its first', 'im.create.type-major', '', sent(create, /-machine@1"/, '-machine@1.9.0"')],
  ['an unknown type is 500', 'im.create.type-unknown', '', answer(create, (reply, { body }) => { if (reply.status === 400 && body.includes('-none@1"')) reply.status = 500; })],
  ['properties need not be declared', 'im.create.undeclared', '', sent(create, /,"undeclared":1/, '')],
  ['data types are not checked', 'im.create.data-type', '', sent(create, /"count":("seven"|1\.5)/, '"count":1')],
  ['mandatory properties may be missing', 'im.create.mandatory', '', ask(create, (call) => { if (/machine/.test(call.body) && !call.body.includes('"serial"')) call.body = call.body.replace('"plant"', `"serial":"${Math.random()}","plant"`); })],
  ['null is refused', 'im.create.null', '', ask(create, ({ body }) => body.includes('null') && { status: 400 })],
  ['wrapped values are refused', 'im.create.wrapped', 'im.query.wrapped', ask(create, ({ body }) => body.includes('{"value"') && { status: 400 })],
  ['related models are forgotten', 'im.related', 'im.related.failed im.related.there im.update.related', world(({ types }) => { const { find } = types; types.find = (...args) => { const found = find(...args); return found && { ...found, relatedModels: new Map() }; }; })],
  ['related models have no defaults', 'im.related.there', '', says(/^GET .*svc.configuration$/, 200, /"interval":60,?/, '')],
  ['a related model that fails fails all', 'im.related.failed', '', answer(create, (reply) => { if (reply.body.includes('"success":false')) reply.status = 400; })],
  ['no related models: no list', 'im.related.none', '', says(create, 201, /,"relatedModels":\[\]/, '')],
  ['reads leave the variables out', 'im.read', '', says(read, 200, /"variables":\{\},/, '')],
  ['an unknown object is 200 and null', 'im.read.unknown', 'im.caller.unknown im.device.encoded im.tenant.read', answer(read, (reply) => { if (reply.status === 404) Object.assign(reply, { status: 200, body: 'null' }); })],
  ['object ids are compared as texts', 'im.read.case', 'im.read.encoded', ask(read, ({ path }) => /[A-F]/.test(path) && { status: 404 })],
  ['paths are not decoded', 'im.read.encoded', '', ask(read, (call) => { call.path = call.path.replaceAll('%', '%25'); })],
  ['properties go through doubles', 'im.bytes.integer', 'im.body.repeated im.bytes.number im.query.exact im.references.bytes', through(create, reparsed)],
  ['numbers are written anew', 'im.bytes.number', '', sent(create, /"ratio":1\.0/, '"ratio":1')],
  ['zeros at the end of numbers are left out', 'im.bytes.number', '', sent(create, /"ratio":2\.50/, '"ratio":2.5')],
  ['members are sorted', 'im.bytes.order', '', through(create, sorted)],
  ['control characters are removed', 'im.bytes.control', '', sent(create, /\\u0000/, '')],
  ['texts lose what is not Latin', 'im.bytes.text', '', sent(create, /😀/u, '??')],
  ['variables are read anew from an update', 'im.bytes.variables', '', sent(update, /9007199254740993/, '9007199254740992')],
  ['bodies of 100 kB at most', 'im.bytes.large', '', ask(create, ({ body }) => body.length > 100_000 && { status: 413 })],
  ['updates are answered with 204', 'im.update', 'im.bytes.variables im.query.current im.repeat.refusal im.repeat.update im.update.ids im.update.name im.update.race im.update.related im.update.type', answer(update, (reply) => { if (reply.status === 200) Object.assign(reply, { status: 204, body: '' }); })],
  ['updates answer what was before', 'im.update.stored', 'im.update im.update.behind im.update.ids im.update.name im.update.related im.update.replaces', ask(update, ({ body }) => body.includes('"label":"after"') && { status: 200, body: `{"objectId":"x","model":"svc.device","version":2,"properties":{"label":"after"}}` })],
  ['updates are merged', 'im.update.replaces', '', sent(update, /"label":"after"/, '"label":"after","count":1')],
  ['an update removes the owner', 'im.update.owner', 'im.update.behind im.update.name im.update.race', world(({ objects }) => { const { put } = objects; objects.put = (object) => { const { owner: _, ...rest } = object; return put(object.version > 1 && object.model === 'svc.device' ? rest : object); }; })],
  ['an update removes the name', 'im.update.name', '', world(({ objects }) => { const { put } = objects; objects.put = (object) => { const { name: _, ...rest } = object; return put(object.version === 2 ? rest : object); }; })],
  ['an update takes the latest type version', 'im.update.type', '', sent(update, /-machine"/, '-machine@2.0.0"')],
  ['ids in the body must be right', 'im.update.ids', '', ask(update, ({ body }) => body.includes('svc.other') && { status: 400 })],
  ['updates say nothing of related models', 'im.update.related', '', says(update, 200, /,"relatedModels":\[.*\]/, '')],
  ['versions behind are taken', 'im.update.behind', '', sent(update, /("label":"late".*)"version":1/, '$1"version":2')],
  ['versions ahead are taken', 'im.update.ahead', 'im.update.meta', sent(update, /"version":7/, '"version":1')],
  ['a version mismatch has no meta', 'im.update.meta', '', says(update, 409, /"meta":\{.*?\}/, '"meta":{}')],
  ['a refused update is made all the same', 'im.update.refused', '', ask(update, (call) => { if (call.body.includes('"label":"no"')) call.body = call.body.replace('"version":9', '"version":1'); })],
  ['updates at once are all taken', 'im.update.race', '', answer(update, (reply, { body }) => { if (/"label":"[abcd]"/.test(body)) reply.status = 200; })],
  ['an update of an unknown object is 400', 'im.update.unknown', 'im.tenant.write', status(update, 404, 400)],
  ['updates need no version', 'im.update.version', '', ask(update, (call) => { if (!call.body.includes('"version"')) call.body = call.body.replace(/\}$/, ',"version":1}'); })],
  ['unique properties may change', 'im.update.unique', '', answer(update, (reply) => { if (reply.status === 400 && reply.body.includes('is unique and cannot be changed')) reply.status = 200; })],
  ['each type may follow', 'im.update.other-type', '', answer(update, (reply, { body }) => { if (body.includes('-rack@')) reply.status = 200; })],
  ['a claim again is 409', 'im.claim.again', '', answer(claim, (reply, { body }) => { if (reply.status === 204 && !isRepeat(body)) reply.status = 409; })],
  ['a claim takes from others', 'im.claim.owned', '', status(claim, 409, 204)],
  ['a claim is for anybody', 'im.claim.unknown', 'im.tenant.write', status(claim, 404, 204)],
  ['a claim makes a new version', 'im.claim', '', world(({ objects }) => { const { put } = objects; objects.put = (object) => put(object.name === 'Spare pump' || object.name === 'Spare motor' ? { ...object, version: object.version + 1 } : object); })],

  // References and look-ups.
  ['new references are 200', 'im.references', 'im.references.many im.references.parent', status(link, 201, 200)],
  ['references that exist are 409', 'im.references.existing', '', status(link, 200, 409)],
  ['references lose their models', 'im.references.read', '', says(links, 200, /,"model":"svc.device"/, '')],
  ['no references is 404', 'im.references.none', 'im.device.write im.references.all im.tenant.write', answer(links, (reply) => { if (reply.body === '{"data":[]}') reply.status = 404; })],
  ['attributes go through doubles', 'im.references.bytes', '', through(link, reparsed)],
  ['attributes stay as they were first', 'im.references.attributes', '', world(({ objects: { references } }) => { const { put } = references; references.put = (source, reference) => { const before = references.find(source, reference); return put(source, before ?? reference); }; })],
  ['one reference for each name', 'im.references.identity', 'im.references.bytes im.references.order', answer(links, (reply) => { if (reply.status === 200) reply.body = JSON.stringify({ data: Object.values(Object.fromEntries(dataOf(reply).map((one) => [one['name'], one]))) }); })],
  ['references come back the latest first', 'im.references.order', '', answer(links, (reply) => { if (reply.body.includes('"seen"')) reply.body = JSON.stringify({ data: dataOf(reply).reverse() }); })],
  ['reference names need not be declared', 'im.references.undeclared', '', answer(link, (reply, { body }) => { if (body.startsWith('[{"name":"undeclared"')) reply.status = 201; })],
  ['targets need not exist', 'im.references.target', '', answer(link, (reply) => { if (reply.status === 404 && reply.body.includes('target')) reply.status = 201; })],
  ['a parent’s name must be declared by the child', 'im.references.parent', '', ask(link, ({ body }) => body.includes('isParent') && { status: 400 })],
  ['half of the references are written', 'im.references.all', '', ask(link, (call) => { if (call.body.includes(',{"name":"undeclared"')) call.body = call.body.replace(/,\{"name":"undeclared".*\]/, ']'); })],
  ['references come in pages of 100', 'im.references.many', '', answer(links, (reply) => { if (reply.body.includes('slot')) reply.body = JSON.stringify({ data: dataOf(reply).slice(0, 100) }); })],
  ['references of an unknown object are none', 'im.references.unknown', 'im.tenant.read', answer(links, (reply) => { if (reply.status === 404) Object.assign(reply, { status: 200, body: '{"data":[]}' }); })],
  ['look-ups answer ids only', 'im.query', 'im.query.current', answer(query, (reply) => { if (reply.status === 200) reply.body = JSON.stringify({ data: dataOf(reply).map(({ objectId, model, version }) => ({ objectId, model, version })) }); })],
  ['nothing found is 404', 'im.query.none', 'im.device.query im.query.all im.query.exact im.query.subtypes im.tenant.query', answer(query, (reply) => { if (reply.body === '{"data":[]}') reply.status = 404; })],
  ['one value is enough', 'im.query.all', '', sent(query, /,"plant":"kit-\w+-\d+"/, '')],
  ['only the latest version of a type is searched', 'im.query.versions', '', answer(query, (reply) => { if (reply.body.includes('-machine@1.9.0')) reply.body = '{"data":[]}'; })],
  ['look-ups are behind', 'im.query.current', '', says(query, 200, /"version":2/, '"version":1')],
  ['wrapped values are others', 'im.query.wrapped', '', answer(query, (reply, { body }) => { if (body.includes('{"value"')) reply.body = '{"data":[]}'; })],
  ['numbers are compared as texts', 'im.query.numbers', '', answer(query, (reply, { body }) => { if (body.includes('12.0')) reply.body = '{"data":[]}'; })],
  ['numbers are compared as doubles', 'im.query.exact', '', sent(query, /9007199254740992/, '9007199254740993')],
  ['numbers of look-ups go through doubles', 'im.query.exact', '', through(query, reparsed)],
  ['derived types are found, too', 'im.query.subtypes', '', world(({ objects }) => { const { find } = objects; objects.find = (tenant, model, typeId, values) => [...find(tenant, model, typeId, values), ...find(tenant, model, typeId.replace('machine', 'pump'), values)]; })],

  // Rights.
  ['tenants are 403 to each other', 'im.tenant.read', '', answer(/^GET \/objects/, (reply, { headers }) => { if (headers['x-svc-device-id'] === 'rival-1') reply.status = 403; })],
  ['each tenant writes', 'im.tenant.write', '', header(update, 'x-svc-device-id', (given) => (given === 'rival-1' ? 'gateway-1' : given))],
  ['each tenant writes references', 'im.tenant.write', '', header(link, 'x-svc-device-id', (given) => (given === 'rival-1' ? 'gateway-1' : given))],
  ['look-ups search all tenants', 'im.tenant.query', '', header(query, 'x-svc-device-id', (given) => (given === 'rival-1' ? 'gateway-1' : given))],
  ['each device of a tenant reads', 'im.device.read', '', header(/^GET \/objects/, 'x-svc-device-id', (given) => (given === 'pump-2' ? 'gateway-1' : given))],
  ['each device of a tenant writes', 'im.device.write', '', header(update, 'x-svc-device-id', (given) => (given === 'pump-2' ? 'gateway-1' : given))],
  ['each device of a tenant writes references', 'im.device.write', '', header(link, 'x-svc-device-id', (given) => (given === 'pump-2' ? 'gateway-1' : given))],
  ['look-ups search all of the tenant', 'im.device.query', '', header(query, 'x-svc-device-id', (given) => (given === 'pump-2' ? 'gateway-1' : given))],
  ['owners may be anybody of the tenant', 'im.device.owner', 'im.repeat.scope', answer(create, (reply) => { if (reply.status === 403 && reply.body.includes('the owner is connected')) reply.status = 201; })],
  ['a conflict names another device’s object', 'im.device.unique', '', answer(create, (reply) => { if (reply.body.includes('belong to an object of another device')) reply.status = 409; })],
  ['callers need a device', 'im.caller.read', 'im.caller.device im.caller.invoke im.caller.unknown', ask(read, (call) => isCaller(call) && { status: 400 })],
  ['an unknown object is 403 to callers', 'im.caller.unknown', '', answer(read, (reply, { headers }) => { if (headers['x-svc-device-id'] === undefined && reply.status === 404) reply.status = 403; })],
  ['callers write', 'im.caller.write', '', ask(update, (call, token) => { if (isCaller(call)) Object.assign(call.headers, { authorization: `Bearer ${token}`, 'x-svc-device-id': 'gateway-1' }); })],
  ['callers speak for devices', 'im.caller.device', '', ask(read, (call, token) => { if (isCaller(call) && call.headers['x-svc-device-id']) call.headers['authorization'] = `Bearer ${token}`; })],
  ['readers invoke', 'im.caller.invoke', '', header(read, 'x-svc-operation', () => undefined)],

  // Repeats.
  ['keys are ignored', 'im.repeat.create', 'im.repeat.refusal im.repeat.reused im.repeat.update', header(ofObjects, 'idempotency-key', () => undefined)],
  ['keys of updates are ignored', 'im.repeat.update', 'im.repeat.refusal', header(update, 'idempotency-key', () => undefined)],
  ['refusals are not remembered', 'im.repeat.refusal', 'im.repeat.update', header(update, 'idempotency-key', (key) => (isRepeat(key) ? undefined : key))],
  ['keys count for all devices', 'im.repeat.scope', 'im.device.owner im.device.write', header(create, 'x-svc-device-id', (given) => (given === 'pump-2' ? 'gateway-1' : given))],
  ['keys count for one route each', 'im.repeat.reused', '', header(claim, 'idempotency-key', () => undefined)],
  ['a repeated create is 500', 'im.lost.create', 'im.repeat.create', ask(create, ({ headers: { 'idempotency-key': key = '' } }) => isRepeat(key) && { status: 500 })],
  ['an update whose answer is lost is undone', 'im.lost.update', '', ask(update, ({ body }) => body.includes('"label":"sent"') && { status: 503 })],

  // The principal manager.
  ['a device has no path', 'pm.resolve.device', '', says(resolve, 200, /"path":"gateway-1",/, '')],
  ['a device is its own parent', 'pm.resolve.parent', '', says(resolve, 200, /("id":("[^"]*").*)"parentId":null/, '$1"parentId":$2')],
  ['an unknown identity is 404', 'pm.resolve.unknown', 'pm.delete pm.resolve.one-name', answer(resolve, (reply) => { if (reply.body === '{"data":[]}') reply.status = 404; })],
  ['each device resolves each other', 'pm.resolve.other', '', ask(resolve, ({ path, headers }) => { if (path.includes('device=pump-2')) headers['x-svc-device-id'] = 'pump-2'; })],
  ['segments may be empty, . and ..', 'pm.resolve.segments', '', ask(resolve, (call) => { call.path = call.path.replace(/path=(a%2F)?\.+.*/, 'path='); })],
  ['paths leave the device out', 'pm.resolve.child', '', says(resolve, 200, /"path":"gateway-1\/edge/, '"path":"edge')],
  ['a path alone is the device', 'pm.resolve.path', '', ask(resolve, (call) => { if (call.path.includes('sensor-1') && !call.path.includes('identity=')) call.path = call.path.replace(/&path=[^&]*/, ''); })],
  ['identities are split at slashes', 'pm.resolve.one-name', '', ask(resolve, (call) => { call.path = call.path.replace(/identity=x%2F\.\.%2Fedge%2Fsensor-1/, 'path=edge&identity=sensor-1'); })],
  ['identities are split at slashes, and checked', 'pm.resolve.one-name', '', ask(resolve, (call) => { call.path = call.path.replace(/identity=edge%2Fsensor-1$/, 'path=edge&identity=sensor-1'); })],
  ['updates of identities are 202', 'pm.update', 'pm.update.own-name', status(change, 200, 202)],
  ['keys are shown', 'pm.update.key', '', answer(change, (reply, { body }) => { if (reply.status === 200) reply.body = reply.body.replace('{', `{"shown":${JSON.stringify(body)},`); })],
  ['a name is refused in an update', 'pm.update.own-name', '', ask(change, ({ body }) => body.includes('"identity":"sensor-1"') && { status: 400 })],
  ['identities are renamed', 'pm.update.renamed', '', answer(change, (reply, { body }) => { if (body.includes('renamed')) reply.status = 200; })],
  ['paths are set', 'pm.update.read-only', '', answer(change, (reply, { body }) => { if (body.includes('"path"')) reply.status = 200; })],
  ['an unknown identity is deleted', 'pm.update.unknown', 'pm.delete', status(remove, 404, 204)],
  ['devices change each other', 'pm.update.other', '', header(change, 'x-svc-device-id', (given) => (given === 'pump-2' ? 'gateway-1' : given))],
  ['tenants change each other', 'pm.update.tenant', '', header(change, 'x-svc-device-id', (given) => (given === 'rival-1' ? 'gateway-1' : given))],
  ['a deletion deletes nothing', 'pm.delete', 'pm.update.unknown', ask(remove, () => ({ status: 204, body: '' }))],
  ['keys of deletions are ignored', 'pm.repeat', '', header(remove, 'idempotency-key', () => undefined)],
];

it.each(faults)('%s: noticed by %s', async (_, noticedBy, others, fault) => {
  const noticing = broken(await runWith(fault, noticedBy.slice(0, 3))).sort(); // the rules of that backend
  expect(noticing, noticing.join(' ')).toEqual([noticedBy, ...others.split(' ')].filter(Boolean).sort());
});

it('Each rule has a fault; those that all backends have, at one of them', () => {
  const ids = new Set(rules.map(({ id }) => id));
  const noticing = new Set(faults.map(([, noticedBy]) => noticedBy));
  const same = (id: string) => ['im', 'tr', 'pm'].map((backend) => backend + id.slice(2));
  const isShared = (id: string) => same(id).every((one) => ids.has(one));
  const hasFault = (id: string) => (isShared(id) ? same(id) : [id]).some((one) => noticing.has(one));
  expect([...ids].filter((id) => !hasFault(id))).toEqual([]);
  expect([...noticing].filter((id) => !ids.has(id))).toEqual([]);
});
