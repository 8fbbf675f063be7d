import { expect, it } from 'vitest';
import type { BackendCall } from '../../sandbox/backends/calls/calls.ts';
import { inHubOrder, partedBy, untold } from './hubOrder.ts';

const callOf = (id: string, position: number, traceparent = 'one', answered: Partial<BackendCall> = {}) =>
  ({ headers: { 'x-correlation-id': id, traceparent }, position, path: '', ...answered }) as unknown as BackendCall;

/** What was sent, in this order: where it stands, and the position of the first call of each of its beginnings in the journal. */
const orderOf = (
  sent: readonly (readonly [id: string, hub: string, ...calls: number[]])[],
  effects: readonly { id: string; position: number }[] = [],
  /** How the call at a position was answered. */
  answered: Partial<BackendCall> = {},
) =>
  inHubOrder(
    sent.map(([id]) => ({ id, deviceId: 'pump-1' })),
    {
      failovers: [
        { position: 100, hub: 'secondary' },
        { position: 200, hub: 'primary' },
      ],
      places: new Map(sent.map(([id, hub]) => [id, [{ hub, partition: '0', sequenceNumber: 0, enqueuedTime: 0 }]])),
      replies: [],
    },
    sent.flatMap(([id, , ...positions]) =>
      positions.map((position) => callOf(id, position, `${position}`, answered.position === position ? answered : {})),
    ),
    effects,
    'primary',
  ).map(({ id }) => id);

it('what a failover leaves unread comes behind what was sent to the other endpoint', () => {
  const read = ['read', 'primary', 50] as const;
  const unread = ['unread', 'primary', 250] as const;
  expect(orderOf([read, unread, ['there', 'secondary', 150], ['back', 'primary', 260]])).toEqual([
    'read',
    'there',
    'unread',
    'back',
  ]);
});

it('what is finished after a failover was read before it, and comes before what was sent to the other endpoint', () => {
  expect(
    orderOf([
      ['late', 'primary', 110],
      ['there', 'secondary', 150],
    ]),
  ).toEqual(['late', 'there']);
  expect(
    orderOf([
      ['there', 'secondary', 210],
      ['back', 'primary', 220],
    ]),
  ).toEqual(['there', 'back']);
});

it('what a stop for a failover has cut off comes where it had its effect, or else where it was begun again', () => {
  const sent = [
    ['cut off', 'primary', 50, 250],
    ['there', 'secondary', 150],
  ] as const;
  expect(orderOf(sent)).toEqual(['there', 'cut off']);
  expect(orderOf(sent, [{ id: 'cut off', position: 60 }])).toEqual(['cut off', 'there']);
  expect(orderOf(sent, [], { position: 50, method: 'PUT', status: 409 })).toEqual(['cut off', 'there']);
  expect(orderOf(sent, [], { position: 50, method: 'GET', status: 404 })).toEqual(['there', 'cut off']);
});

it('what an instance does late, that had lost its partition by then, comes where it does it, as it is begun again', () => {
  const sent = [
    ['lost', 'primary', 50, 250],
    ['there', 'secondary', 120],
    ['there, too', 'secondary', 170],
  ] as const;
  expect(orderOf(sent, [{ id: 'lost', position: 150 }])).toEqual(['there', 'lost', 'there, too']);
});

it('what failovers have left unfinished has been told, unless an instance was killed', () => {
  const parted = new Set(['a', 'b', 'c']);
  const line = (unfinished: number) => ({ event: 'hub.messages_left', unfinished });
  const released = { event: 'partition.released', unfinished: 9 };
  expect(untold(parted, { interruptions: [] }, [line(1), line(2), released])).toEqual([]);
  expect(untold(parted, { interruptions: [] }, [line(2), released])).toHaveLength(1);
  expect(untold(parted, { interruptions: [{ at: 0, of: '0' }] }, [])).toEqual([]);
});

it('messages that were begun again on the other side of a failover are parted, and those begun again before it are not', () => {
  const failovers = [{ position: 100, hub: 'secondary' }];
  const calls = [callOf('a', 50), callOf('a', 150, 'two'), callOf('b', 50), callOf('b', 60, 'two'), callOf('c', 150)];
  expect(partedBy(failovers, calls)).toEqual(new Set(['a']));
});
