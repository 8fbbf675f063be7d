import { expect, it } from 'vitest';
import { check } from './checker.ts';
import type { Effect, Handled, History, Sent, State, Subject, Told } from './history.ts';

// The plain cases are sabotages (sabotages.txt): a message lost or in another order, a reply left out, with another code or another id.

/**
 * A history of one device in which all is well: it creates an object, updates it twice, and asks for what nobody does;
 * then it creates a part, refers to it, asks for both, defines a type twice, and removes an identity.
 */
const sent: Sent[] = [
  message('a', 'all', { does: 'create', object: 'o', tells: ['svc.device', 'svc.configuration'] }),
  message('b', 'positive', { does: 'replace', object: 'o', version: 1 }),
  message('c', 'none', { does: 'replace', object: 'o', version: 2 }),
  message('x', 'negative', { does: 'nothing', code: 'operation_not_supported' }),
  message('p', 'none', { does: 'create', object: 'part', tells: [] }),
  message('r', 'all', { does: 'refer', object: 'o', to: 'part' }),
  message('s', 'all', { does: 'fetch', object: 'o', contained: true }),
  message('t', 'all', { does: 'define', type: 'pump@1.0.0' }),
  message('u', 'all', { does: 'define', type: 'pump@1.0.0' }),
  message('d', 'all', { does: 'remove', identity: 'module' }),
];

function message(id: string, ack: Sent['ack'], intent: Sent['intent']): Sent {
  return { id, deviceId: 'd', ack, intent };
}

const told = (id: string, code: string): Told => ({
  ...{ id, deviceId: 'd', messageId: `${id}-ack`, code, success: code === 'ok' },
});

const news = (id: string, object: string, model: Subject['model'], version: number, isNew = false): Told => ({
  ...{ id, deviceId: 'd', messageId: `${id}-${object}-${model}`, about: { object, model, version, isNew } },
});

const replies: Told[] = [
  news('a', 'o', 'svc.device', 1, true),
  news('a', 'o', 'svc.configuration', 1, true),
  told('a', 'ok'),
  told('b', 'ok'),
  told('x', 'operation_not_supported'),
  told('r', 'ok'),
  news('s', 'o', 'svc.device', 3),
  news('s', 'o', 'svc.configuration', 1),
  news('s', 'part', 'svc.device', 1),
  told('s', 'ok'),
  told('t', 'ok'),
  told('u', 'http_response_error'),
  told('d', 'ok'),
];

const codes: Record<string, string> = { x: 'operation_not_supported', u: 'http_response_error' };
const handled: Handled[] = sent.map(({ id }) => ({
  id,
  partition: '0',
  code: codes[id] ?? 'ok',
  dropped: 0,
  remarks: 0,
}));

const stored: State = {
  objects: { o: { version: 3, mark: 'c' }, part: { version: 1, mark: 'p' } },
  anonymous: [],
  ...{ references: { 'o part': 'r' }, types: { 'pump@1.0.0': 't' }, connected: [], identity: undefined },
};

const well: History = {
  sent,
  connected: ['module'],
  effects: ['a', 'b', 'c', 'p', 'r', 't', 'd'].map((id) => ({ id, key: `key of ${id}` })),
  ...{ told: replies, handled, begun: new Map(), struck: new Set(), refused: new Set(), parked: new Set() },
  ...{ unexecuted: new Set(), state: new Map([['d', stored]]), mostRepeats: new Map() },
};

const found = (change: Partial<History>) => check({ ...well, ...change }).map(({ what, id }) => `${what} ${id}`);
const holding = (change: Partial<State>) => ({ state: new Map([['d', { ...stored, ...change }]]) });
const pumpIs = (version: number, mark: string) => holding({ objects: { ...stored.objects, o: { version, mark } } });
const without = <T extends { id: string }>(list: readonly T[], ...ids: string[]) =>
  list.filter(({ id }) => !ids.includes(id));
const logged = (id: string, change: Partial<Handled>) =>
  handled.map((line) => (line.id === id ? { ...line, ...change } : line));
/** The first reply to one message that `isMeant`, changed; left out when there is no change. */
function telling(id: string, isMeant: (reply: Told) => boolean, change?: Partial<Told>): Told[] {
  const index = replies.findIndex((reply) => reply.id === id && isMeant(reply));
  const reply = replies[index];
  if (!reply) throw new Error(`nothing was told for ${id}`);
  return replies.toSpliced(index, 1, ...(change ? [{ ...reply, ...change }] : []));
}
const isAck = ({ about }: Told) => about === undefined;
const isOf = (model: string, object: string) => (reply: Told) =>
  reply.about?.model === model && reply.about.object === object;

const faulted = (id: string) => ({ struck: new Set([id]), parked: new Set([id]) });
const bounded = (most: number, partition = '0') => ({ mostRepeats: new Map([[partition, most]]) });
const [first, second, third, ...later] = well.effects as [Effect, Effect, Effect, ...Effect[]];
const swapped = [first, third, second, ...later];
const ofPump = isOf('svc.device', 'o');
const about = (change: Partial<Subject>) =>
  ({ about: { object: 'o', model: 'svc.device', version: 3, isNew: false, ...change } }) as const;

it('the checker of histories finds nothing in a correct history', () => expect(check(well)).toEqual([]));

const missingPart = telling('s', isOf('svc.device', 'part'));
const missingSettings = telling('a', isOf('svc.configuration', 'o'));
const again = [...handled, ...handled.slice(0, 2)];
const begun = new Map([
  ['a', 2],
  ['b', 3],
]);
const timedOut = { told: telling('x', isAck), handled: logged('x', { code: 'timeout_exceeded' }) };
const heard = { ...timedOut, told: telling('x', isAck, { code: 'timeout_exceeded' }) };
const droppedAck = { told: without(replies, 'b'), handled: logged('b', { dropped: 1 }) };
const leftOut = { told: missingSettings, handled: logged('a', { remarks: 1 }) };
const repeatedPump = {
  told: [...replies, news('s', 'o', 'svc.device', 4)],
  handled: [...handled, ...handled.filter(({ id }) => id === 's')],
  ...bounded(1),
};

it.each<[what: string, change: Partial<History>, found: readonly string[]]>([
  [
    'a removal that has left no trace',
    { effects: without(well.effects, 'd'), ...holding({ connected: ['module'] }) },
    ['lost d'],
  ],
  [
    'no repeat of an effect or a reply',
    { effects: [...well.effects, { id: 'a', key: 'key of a' }], told: [...replies, told('a', 'ok')] },
    [],
  ],
  ['as many repeats as the bound of their partition', { handled: again, ...bounded(2) }, []],
  ['more repeats than the bound of their partition', { handled: again, ...bounded(1) }, ['duplicated 0']],
  ['repeats beyond the bound of another partition', { handled: again, ...bounded(9, '1') }, ['duplicated 0']],
  ['as many messages begun again as the bound, finished or not', { begun, ...bounded(3) }, []],
  ['more messages begun again than the bound, finished or not', { begun, ...bounded(2) }, ['duplicated 0']],
  ['no messages that a clean stop has cut off', { begun }, []],
  ['objects that no message explains', holding({ anonymous: ['?'] }), ['state d']],
  ['references that no message explains', holding({ references: { 'o part': 'r', 'part o': '?' } }), ['state d']],
  ['types that no message explains', holding({ types: { ...stored.types, 'pump@2.0.0': '?' } }), ['state d']],
  ['identities that no message explains', holding({ connected: ['module'] }), ['state d']],
  ['an identity that no message explains', holding({ identity: '?' }), ['state d']],
  ['a state that only another order explains', pumpIs(3, 'b'), ['state d']],
  ['another code in the log', { handled: logged('c', { code: 'http_response_error' }) }, ['wrong acknowledgement c']],
  ['no dropped acknowledgement that the hub had refused', { ...droppedAck, refused: new Set(['b']) }, []],
  ['a dropped acknowledgement that the hub had not refused', droppedAck, ['wrong acknowledgement b']],
  ['no failure that a fault explains and that is parked', { ...heard, ...faulted('x') }, []],
  ['a failure that is not told', { ...timedOut, ...faulted('x') }, ['wrong acknowledgement x']],
  [
    'another version than what is stored',
    { told: telling('s', ofPump, about({ version: 2 })) },
    ['wrong notification s'],
  ],
  ['a version that is not stored yet', { told: telling('s', ofPump, about({ version: 4 })) }, ['wrong notification s']],
  [
    'another event than what happened',
    { told: telling('s', ofPump, about({ isNew: true })) },
    ['wrong notification s'],
  ],
  [
    'a notification that comes after the acknowledgement',
    { told: [...missingPart, news('s', 'part', 'svc.device', 1)] },
    ['wrong notification s'],
  ],
  [
    'a notification that comes again under another message id',
    { told: [...replies, { ...news('s', 'o', 'svc.device', 3), messageId: 'another' }] },
    ['wrong notification s'],
  ],
  ['no difference between a repeat and the state that has changed since', repeatedPump, []],
  ['a difference without a repeat', { ...repeatedPump, handled }, ['wrong notification s']],
  [
    'no difference when its first beginning was cut off by a failover',
    { ...repeatedPump, handled, parted: new Set(['s']) },
    [],
  ],
  [
    'a notification that is counted, and that the hub had not refused',
    { told: telling('a', ofPump), handled: logged('a', { dropped: 1 }) },
    ['uncounted a'],
  ],
  ['no configuration that a fault explains and the reply mentions', { ...leftOut, struck: new Set(['a']) }, []],
  ['a configuration that no fault explains', leftOut, ['uncounted a']],
])('the checker of histories reports %s', (_, change, expected) => expect(found(change)).toEqual(expected));

const caughtUp = {
  effects: [...without(well.effects, 'b'), { id: 'c', key: 'once more' }],
  told: without(replies, 'b'),
  handled: logged('b', { code: 'internal_platform_error' }),
};
const undelivered = {
  told: missingPart.map((one) =>
    one.id === 's' && isAck(one) ? { ...one, code: 'delivery_failed', success: false } : one,
  ),
  handled: logged('s', { dropped: 1, code: 'delivery_failed' }),
};
const late = { effects: swapped, handled: logged('b', { code: 'timeout_exceeded' }) };

it.each<[what: string, change: Partial<History>, found: string]>([
  ['a type that has left no trace', { effects: without(well.effects, 't'), ...holding({ types: {} }) }, 'lost t'],
  ['a reference without a trace', { effects: without(well.effects, 'r'), ...holding({ references: {} }) }, 'lost r'],
  ['an effect of a request that no fault had ended', late, 'inverted b'],
  [
    'a version that one message has bumped twice',
    { effects: [...well.effects, { id: 'c', key: 'another key' }], ...pumpIs(4, 'c') },
    'duplicated c',
  ],
  ['a type that was created twice', { effects: [...well.effects, { id: 'u', key: 'key of u' }] }, 'duplicated u'],
  ['an acknowledgement that is not wanted', { told: [...replies, told('c', 'ok')] }, 'wrong acknowledgement c'],
  ['a failure that no fault explains', { ...heard, parked: new Set(['x']) }, 'wrong acknowledgement x'],
  ['an update that nothing explains and a later one compensates', caughtUp, 'lost b'],
  [
    'a notification that no message asks for',
    { told: [...replies, news('u', 'o', 'svc.device', 3)] },
    'wrong notification u',
  ],
  ['a notification that the hub had not refused, with its failure', undelivered, 'uncounted s'],
])('the checker of histories reports, among others, %s', (_, change, expected) =>
  expect(found(change)).toContain(expected),
);

it('the checker of histories accepts what a fault explains', () => {
  expect(found({ ...late, ...faulted('b') })).not.toContain('inverted b');
  expect(found({ ...caughtUp, ...faulted('b') })).toEqual([]);
  expect(found({ ...undelivered, refused: new Set(['s']) })).toEqual([]);
  const twice = [...logged('x', { code: 'timeout_exceeded' }), ...handled.filter(({ id }) => id === 'x')];
  const retold = [{ ...told('x', 'timeout_exceeded'), messageId: 'failed' }, ...replies];
  expect(found({ told: retold, handled: twice, struck: new Set(['x']) })).not.toContain('lost x');
});

it('the checker of histories reports as inverted no reply that had been dropped before', () => {
  const redelivered = {
    told: [...without(replies, 'b'), told('b', 'ok')],
    handled: [...logged('b', { dropped: 1 }), ...handled.filter(({ id }) => id === 'b')],
    ...bounded(1),
  };
  expect(found({ ...redelivered, refused: new Set(['b']) })).toEqual([]);
  expect(found({ ...redelivered, handled })).toEqual(['inverted b']);
});

const removing = message('e', 'all', { does: 'remove', identity: 'module' });
const removed = { id: 'e', partition: '0', dropped: 0, remarks: 0 };

it('the checker of histories reports as inverted no reply of a message that had another result before', () => {
  const codes = ['http_response_error', 'ok'].map((code) => ({ ...removed, code }));
  const sentBefore = [{ ...removing, ack: 'positive' as const }, ...sent];
  const refusal = telling('d', isAck, { code: 'http_response_error', success: false });
  const history = { sent: sentBefore, connected: [], effects: without(well.effects, 'd'), ...bounded(1) };
  const lines = logged('d', { code: 'http_response_error' });
  const answered = { ...history, told: [...refusal, told('e', 'ok')] };
  expect(found({ ...answered, handled: [...lines, ...codes] })).toEqual([]);
  expect(found({ ...answered, handled: [...lines, ...codes.slice(1)] })).toEqual(['inverted e']);
});

it.each([
  ['http_response_error', []],
  ['ok', []],
  ['not_authorized', ['wrong acknowledgement e']],
])('the removal of what does not exist may be a repeat: %s', (code, expected) => {
  const ending = { sent: [...sent, removing], told: [...replies, told('e', code)] };
  expect(found({ ...ending, handled: [...handled, { ...removed, code }] })).toEqual(expect.arrayContaining(expected));
  if (expected.length === 0) expect(found({ ...ending, handled: [...handled, { ...removed, code }] })).toEqual([]);
});
