import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { attachedLink, createSendBytes, watchLink, writeOnce } from '../../src/hub/replies/sendBytes.ts';
import { replyTo } from './support/replying.ts';

// How replies get to the link of the service client, which is attached and has room until the test says otherwise (D147, D148).

/** A link that has no deliveries yet, and what its parts were told. */
function linkTo({ transport = 'authenticated', state = 'attached', queued = 0, isSendable = true } = {}) {
  const told: unknown[][] = [];
  const observers = new EventEmitter();
  observers.on('settled', (context) => told.push(['observers', context]));
  class Sender {
    readonly observers = observers;
    readonly connection = { output() {} };
    send = () => ({ id: 0 });
    sendable = () => isSendable;
    dispatch(event: string, context?: object): boolean {
      told.push([this instanceof Sender ? 'state machines' : 'another sender', event, context]);
      return false;
    }
  }
  const link = {
    _fsm: { state },
    _rheaSender: new Sender(),
    _unsentMessageQueue: Array.from({ length: queued }, () => ({})),
    _pendingMessageDictionary: {} as Record<number, { callback(error: unknown, result?: object): void }>,
  };
  return { told, link, client: { _transport: { _fsm: { state: transport }, _c2dLink: link } } as never };
}

it('a reply does not pass those of its turn when the link has no room for them any more', async () => {
  const { client, link } = linkTo();
  const sent: string[] = [];
  const send = async (_: string, { data }: { readonly data: string }) => sent.push(data) > 0 && { result: {} };
  const sendBytes = createSendBytes(Object.assign(client, { send }));
  const first = sendBytes(replyTo('a', '1'));
  link._rheaSender.sendable = () => false;
  expect(await Promise.all([first, sendBytes(replyTo('a', '2'))])).toEqual([true, true]);
  expect(sent).toEqual(['1', '2']);
});

describe('a link takes a reply as bytes', () => {
  it('when it is attached and has room', () => {
    const { client, link } = linkTo();
    expect(attachedLink(client)).toBe(link);
  });

  it.each<[when: string, as: Parameters<typeof linkTo>[0]]>([
    ['before it is attached', { state: 'attaching' }],
    ['when the client has lost its connection', { transport: 'disconnected' }],
    ['before replies that the client has in its queue', { queued: 1 }],
    ['when the hub has given no room for it', { isSendable: false }],
  ])('never %s', (_, as) => expect(attachedLink(linkTo(as).client)).toBeUndefined());

  it.each([{}, { _transport: {} }, { _transport: { _c2dLink: null } }])('never when it does not exist: %j', (client) =>
    expect(attachedLink(client as never)).toBeUndefined(),
  );
});

describe('a watched link', () => {
  it('settles the send of an accepted delivery by itself, once', () => {
    const { told, link } = linkTo();
    const callback = vi.fn();
    link._pendingMessageDictionary[0] = { callback };
    watchLink(link);
    const context = { delivery: { id: 0 } };
    expect([link._rheaSender.dispatch('accepted', context), callback.mock.calls]).toEqual([true, [[null, {}]]]);
    expect([link._pendingMessageDictionary, told]).toEqual([{}, []]);
    link._rheaSender.dispatch('accepted', context);
    expect([callback.mock.calls.length, told]).toEqual([1, [['state machines', 'accepted', context]]]);
  });

  it('tells only the library itself that a delivery is settled', () => {
    const { told, link } = linkTo();
    watchLink(link);
    expect(link._rheaSender.dispatch('settled', { delivery: { id: 0 } })).toBe(true);
    expect(told).toEqual([['observers', { delivery: { id: 0 } }]]);
  });

  it.each([
    ['rejected', { delivery: { id: 0 } }],
    ['accepted', { delivery: { id: 1 } }],
    ['accepted', {}],
    ['accepted', undefined],
    ['sendable', undefined],
  ])('leaves to the client %s with %j', (event, context) => {
    const { told, link } = linkTo();
    const callback = vi.fn();
    link._pendingMessageDictionary[0] = { callback };
    watchLink(link);
    expect([link._rheaSender.dispatch(event, context), told]).toEqual([false, [['state machines', event, context]]]);
    expect(callback).not.toHaveBeenCalled();
  });

  it('is watched once, however many replies it takes', () => {
    const { link } = linkTo();
    watchLink(link);
    const { dispatch } = link._rheaSender;
    watchLink(link);
    expect(link._rheaSender.dispatch).toBe(dispatch);
  });
});

/** A connection, and what it and its socket have done. */
function connection(socketHas: readonly string[] | undefined) {
  const done: string[] = [];
  const does = (what: string) => () => {
    done.push(what);
    return true;
  };
  const socket = socketHas && { write: does('write'), ...Object.fromEntries(socketHas.map((one) => [one, does(one)])) };
  class Connection {
    readonly socket = socket as never;
    output() {
      done.push('output');
    }
  }
  return { made: new Connection(), done };
}

it.each<[of: string, socketHas: readonly string[] | undefined, expected: readonly string[]]>([
  ['a socket', ['cork', 'uncork'], ['cork', 'output', 'uncork']],
  ['WebSockets', [], ['output']],
  ['a connection that has lost its socket', undefined, ['output']],
])('the frames of a turn are written at its end, together: over %s', async (_, socketHas, expected) => {
  const { made, done } = connection(socketHas);
  for (let turns = 1; turns <= 2; turns += 1) {
    for (let replies = 0; replies < 3; replies += 1) {
      writeOnce(made);
      made.output();
    }
    expect(done.splice(0)).toEqual([]);
    await turn();
    expect(done.splice(0)).toEqual(expected);
  }
});
