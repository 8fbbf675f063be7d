import { describe, expect, it } from 'vitest';
import { check } from './checker.ts';
import type { Handled, History, Sent, State, Subject, Told } from './history.ts';

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

describe('The checker of histories', () => {
  it('finds nothing in a correct history', () => expect(check(well)).toEqual([]));

  describe('reports as lost', () => {
    it('a message without effect and without reply', () => {
      const change = { effects: without(well.effects, 'c'), handled: without(handled, 'c'), ...pumpIs(2, 'b') };
      expect(
        found({ ...change, told: telling('s', isOf('svc.device', 'o'), news('s', 'o', 'svc.device', 2)) }),
      ).toEqual(['lost c']);
    });
    it('an unhandled message whose device waits for the answer', () =>
      expect(found({ told: without(replies, 'x'), handled: without(handled, 'x') })).toEqual(['lost x']));
    it('a message that is not executed, although it ends no process', () => {
      const change = { struck: new Set(['b']), parked: new Set(['b']), unexecuted: new Set(['b']) };
      expect(found(change)).toEqual(['lost b']);
    });
    it('a type, a reference and a removal that have left no trace', () => {
      expect(found({ effects: without(well.effects, 't'), ...holding({ types: {} }) })).toContain('lost t');
      expect(found({ effects: without(well.effects, 'r'), ...holding({ references: {} }) })).toContain('lost r');
      expect(found({ effects: without(well.effects, 'd'), ...holding({ connected: ['module'] }) })).toEqual(['lost d']);
    });
  });

  describe('reports as inverted', () => {
    it('effects in another order than that of the hub', () => {
      const [a, b, c, ...rest] = well.effects;
      if (!(a && b && c)) throw new Error('three effects');
      expect(found({ effects: [a, c, b, ...rest] })).toEqual(['inverted b']);
    });
    it('no effect of a request that had been given up', () => {
      const [a, b, c, ...rest] = well.effects;
      if (!(a && b && c)) throw new Error('three effects');
      const late = { effects: [a, c, b, ...rest], handled: logged('b', { code: 'timeout_exceeded' }) };
      expect(found({ ...late, struck: new Set(['b']), parked: new Set(['b']) })).not.toContain('inverted b');
      expect(found(late)).toContain('inverted b');
    });
    it('replies in another order than that of the hub', () => {
      const [x, r] = [told('x', 'operation_not_supported'), told('r', 'ok')];
      const swapped = replies.map((reply) => (reply.id === 'x' ? r : reply.id === 'r' ? x : reply));
      expect(found({ told: swapped })).toEqual(['inverted x']);
    });
    it('no repeat of an effect or a reply', () => {
      const again = { effects: [...well.effects, { id: 'a', key: 'key of a' }], told: [...replies, told('a', 'ok')] };
      expect(found(again)).toEqual([]);
    });
    it('no reply that had been dropped before', () => {
      const late = {
        told: [...without(replies, 'b'), told('b', 'ok')],
        handled: [...logged('b', { dropped: 1 }), ...handled.filter(({ id }) => id === 'b')],
        mostRepeats: new Map([['0', 1]]),
      };
      expect(found({ ...late, refused: new Set(['b']) })).toEqual([]);
      expect(found({ ...late, handled })).toEqual(['inverted b']);
    });
    it('no reply of a message that had another result before', () => {
      const again = message('e', 'positive', { does: 'remove', identity: 'module' });
      const line = { id: 'e', partition: '0', dropped: 0, remarks: 0 };
      const codes = ['http_response_error', 'ok'].map((code) => ({ ...line, code }));
      const late = { sent: [again, ...sent], connected: [], effects: without(well.effects, 'd') };
      const removed = logged('d', { code: 'http_response_error' });
      const refusal = telling('d', isAck, { code: 'http_response_error', success: false });
      const history = { ...late, told: [...refusal, told('e', 'ok')], mostRepeats: new Map([['0', 1]]) };
      expect(found({ ...history, handled: [...removed, ...codes] })).toEqual([]);
      expect(found({ ...history, handled: [...removed, ...codes.slice(1)] })).toEqual(['inverted e']);
    });
  });

  describe('reports as duplicated', () => {
    it('a version that one message has bumped twice', () => {
      const twice = [...well.effects, { id: 'c', key: 'another key' }];
      expect(found({ effects: twice, ...pumpIs(4, 'c') })).toContain('duplicated c');
    });
    it('a type that was created twice', () =>
      expect(found({ effects: [...well.effects, { id: 'u', key: 'key of u' }] })).toContain('duplicated u'));

    it('more repeats than the bound of their partition', () => {
      const again = [...handled, ...handled.slice(0, 2)];
      expect(found({ handled: again, mostRepeats: new Map([['0', 2]]) })).toEqual([]);
      expect(found({ handled: again, mostRepeats: new Map([['0', 1]]) })).toEqual(['duplicated 0']);
      expect(found({ handled: again, mostRepeats: new Map([['1', 9]]) })).toEqual(['duplicated 0']);
    });
    it('more messages begun again than the bound, finished or not, unless a clean stop has cut them off', () => {
      const begun = new Map([
        ['a', 2],
        ['b', 3],
      ]);
      expect(found({ begun, mostRepeats: new Map([['0', 3]]) })).toEqual([]);
      expect(found({ begun, mostRepeats: new Map([['0', 2]]) })).toEqual(['duplicated 0']);
      expect(found({ begun })).toEqual([]);
    });
  });

  describe('reports as a wrong state', () => {
    it('objects, references, types and identities that no message explains', () => {
      expect(found(holding({ anonymous: ['?'] }))).toEqual(['state d']);
      expect(found(holding({ references: { ...stored.references, 'part o': '?' } }))).toEqual(['state d']);
      expect(found(holding({ types: { ...stored.types, 'pump@2.0.0': '?' } }))).toEqual(['state d']);
      expect(found(holding({ connected: ['module'] }))).toEqual(['state d']);
      expect(found(holding({ identity: '?' }))).toEqual(['state d']);
    });
    it('a state that only another order explains', () => expect(found(pumpIs(3, 'b'))).toEqual(['state d']));
  });

  describe('reports as a wrong acknowledgement', () => {
    it('one that is missing, of another code, or not wanted', () => {
      expect(found({ told: without(replies, 'b') })).toEqual(['wrong acknowledgement b']);
      expect(found({ told: telling('x', isAck, { code: 'not_authorized' }) })).toEqual(['wrong acknowledgement x']);
      expect(found({ told: [...replies, told('c', 'ok')] })).toContain('wrong acknowledgement c');
    });
    it('another code in the log', () =>
      expect(found({ handled: logged('c', { code: 'http_response_error' }) })).toEqual(['wrong acknowledgement c']));
    it('a repeated one under another message id', () =>
      expect(found({ told: [...replies, { ...told('b', 'ok'), messageId: 'b-2' }] })).toEqual([
        'wrong acknowledgement b',
      ]));

    it('no successful removal of something that does not exist, since it may be a repeat', () => {
      const again = message('e', 'all', { does: 'remove', identity: 'module' });
      const line = { id: 'e', partition: '0', dropped: 0, remarks: 0 };
      const ending = (code: string) =>
        found({
          ...{ sent: [...sent, again], told: [...replies, told('e', code)], handled: [...handled, { ...line, code }] },
        });
      expect(ending('http_response_error')).toEqual([]);
      expect(ending('ok')).toEqual([]);
      expect(ending('not_authorized')).toContain('wrong acknowledgement e');
    });
    it('a dropped one that was not counted, or that the hub had not refused', () => {
      const dropped = { told: without(replies, 'b'), handled: logged('b', { dropped: 1 }) };
      expect(found({ ...dropped, refused: new Set(['b']) })).toEqual([]);
      expect(found(dropped)).toEqual(['wrong acknowledgement b']);
    });
  });

  describe('accepts a failure through our side', () => {
    it('only where a fault explains it and the message is parked', () => {
      const failing = { told: telling('x', isAck), handled: logged('x', { code: 'timeout_exceeded' }) };
      const heard = { ...failing, told: telling('x', isAck, { code: 'timeout_exceeded' }) };
      expect(found({ ...heard, struck: new Set(['x']), parked: new Set(['x']) })).toEqual([]);
      expect(found({ ...failing, struck: new Set(['x']), parked: new Set(['x']) })).toEqual([
        'wrong acknowledgement x',
      ]);
      expect(found({ ...heard, struck: new Set(['x']) })).toEqual(['lost x']);
      expect(found({ ...heard, parked: new Set(['x']) })).toContain('wrong acknowledgement x');
    });
    it('without a dead letter when the message was handled again and done', () => {
      const failed = told('x', 'timeout_exceeded');
      const twice = [...logged('x', { code: 'timeout_exceeded' }), ...well.handled.filter(({ id }) => id === 'x')];
      const again = { told: [{ ...failed, messageId: 'failed' }, ...replies], handled: twice };
      expect(found({ ...again, struck: new Set(['x']) })).not.toContain('lost x');
    });
    it('that a later update compensates', () => {
      const caughtUp = {
        effects: [...without(well.effects, 'b'), { id: 'c', key: 'once more' }],
        told: without(replies, 'b'),
        handled: logged('b', { code: 'internal_platform_error' }),
      };
      expect(found({ ...caughtUp, struck: new Set(['b']), parked: new Set(['b']) })).toEqual([]);
      expect(found(caughtUp)).toContain('lost b');
    });
  });

  describe('reports as a wrong notification', () => {
    it('another version or another event than what is stored by then', () => {
      const about = (change: Partial<Subject>) =>
        ({ about: { object: 'o', model: 'svc.device', version: 3, isNew: false, ...change } }) as const;
      const ofPump = isOf('svc.device', 'o');
      expect(found({ told: telling('s', ofPump, about({ version: 2 })) })).toEqual(['wrong notification s']);
      expect(found({ told: telling('s', ofPump, about({ version: 4 })) })).toEqual(['wrong notification s']);
      expect(found({ told: telling('s', ofPump, about({ isNew: true })) })).toEqual(['wrong notification s']);
    });
    it('a reply that no message asks for', () =>
      expect(found({ told: [...replies, news('u', 'o', 'svc.device', 3)] })).toContain('wrong notification u'));

    it('a reply that comes after the acknowledgement, or again under another message id', () => {
      const late = [...telling('s', isOf('svc.device', 'part')), news('s', 'part', 'svc.device', 1)];
      expect(found({ told: late })).toEqual(['wrong notification s']);
      const again = { ...news('s', 'o', 'svc.device', 3), messageId: 'another' };
      expect(found({ told: [...replies, again] })).toEqual(['wrong notification s']);
    });
    it('no difference between a repeat and the state that has changed since', () => {
      const again = {
        told: [...replies, news('s', 'o', 'svc.device', 4)],
        handled: [...handled, ...handled.filter(({ id }) => id === 's')],
        mostRepeats: new Map([['0', 1]]),
      };
      expect(found(again)).toEqual([]);
      expect(found({ ...again, handled })).toEqual(['wrong notification s']);
      // Its first beginning was cut off by a failover.
      expect(found({ ...again, handled, parted: new Set(['s']) })).toEqual([]);
    });
  });

  describe('reports as uncounted', () => {
    it('a notification that is missing and not counted, or that the hub had not refused', () => {
      const told = telling('s', isOf('svc.device', 'part'));
      const dropped = { told, handled: logged('s', { dropped: 1, code: 'delivery_failed' }) };
      expect(found({ told })).toEqual(['uncounted s']);
      expect(found({ told: telling('a', isOf('svc.device', 'o')), handled: logged('a', { dropped: 1 }) })).toEqual([
        'uncounted a',
      ]);
      const failed = {
        ...dropped,
        told: dropped.told.map((one) =>
          one.id === 's' && isAck(one) ? { ...one, code: 'delivery_failed', success: false } : one,
        ),
      };
      expect(found({ ...failed, refused: new Set(['s']) })).toEqual([]);
      expect(found(failed)).toContain('uncounted s');
    });
    it('no missing notification of a configuration that a fault explains and the reply mentions', () => {
      const leftOut = { told: telling('a', isOf('svc.configuration', 'o')), handled: logged('a', { remarks: 1 }) };
      expect(found({ ...leftOut, struck: new Set(['a']) })).toEqual([]);
      expect(found(leftOut)).toEqual(['uncounted a']);
    });
  });
});
