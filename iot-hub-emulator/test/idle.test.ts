import { once } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import { watchIdleConnection } from '../src/amqp/link/idleConnection.ts';
import { type IdleRules, idleRules } from '../src/limits/idle.ts';
import { bareConnection, eventReceiver, outcomeOf, putToken, serviceLink, toDevice } from './support/bare.ts';
import { hubForTest } from './support/sharedHub.ts';

// What nobody uses is ended. The real hub takes minutes, these hubs milliseconds.

const devices = [{ deviceId: 'pump-1' }];
const start = (idle: Partial<IdleRules> = {}) =>
  hubForTest({ devices, partitions: 1, ownerMaySend: true, rules: { idle } });

const expectEnd = ({ error }: { error?: unknown }, condition: string, description: string) =>
  expect(error).toMatchObject({ condition, description: expect.stringContaining(description) });

test('the hub announces its idle time-out and the number of sessions it allows', async () => {
  const { remote } = (await bareConnection(await start())) as unknown as { remote: { open: object } };
  expect(remote.open).toMatchObject({ idle_time_out: 240_000, channel_max: 4_999, max_frame_size: 65_536 });
});

test('a connection without links other than those of $cbs is closed', async () => {
  const hub = await start({ unusedConnection: 2000 });
  const used = await eventReceiver(hub);
  const connection = await bareConnection(hub);
  const closed = once(connection, 'connection_close');
  expect(await putToken(hub, connection, 'events')).toBe(202);
  await closed;
  expectEnd(connection, 'amqp:connection:forced', 'it did not have any active links in the past 2000 milliseconds.');
  expect(used.connection.is_open()).toBe(true);
});

test('a connection whose last link has ended is closed after a time of its own', async () => {
  const hub = await start({ abandonedConnection: 300 });
  const { connection, receiver } = await eventReceiver(hub);
  const closed = once(connection, 'connection_close');
  receiver.close();
  await closed;
  expectEnd(connection, 'amqp:connection:forced', 'it did not have any active links in the past 300 milliseconds.');
});

test('a connection that broke with its links is watched no more', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const ends: (() => void)[] = [];
  const watched = watchIdleConnection(idleRules, () => undefined);
  watched.attached({ path: 'devices/pump-1/messages/events', onEnd: (step: () => void) => ends.push(step) } as never);
  watched.end();
  for (const end of ends) end();
  expect([ends.length, vi.getTimerCount()]).toEqual([1, 0]);
});

test('a silent producer is detached with the reason, and its connection stays', async () => {
  const hub = await start({ publisher: 1000 });
  const connection = await bareConnection(hub);
  await putToken(hub, connection, 'events', 'iothubowner');
  const sender = connection.open_sender({ target: hub.name, name: 'quiet' });
  await once(sender, 'sender_close');
  expect(connection.is_open()).toBe(true);
  expectEnd(
    sender,
    'amqp:link:detach-forced',
    "The link 'quiet' is force detached by the broker due to errors occurred in publisher(quiet). Detach origin: AmqpEventHubPublisher.IdleTimerExpired: Idle timeout: 00:00:01.",
  );
});

test('a silent service is detached from its link to devices, and its connection stays', async () => {
  const hub = await start({ devicebound: 2000 });
  const sender = await serviceLink(hub);
  const closed = once(sender, 'sender_close');
  expect(await outcomeOf(sender, toDevice('pump-1'))).toBe('accepted');
  await closed;
  expectEnd(sender, 'amqp:link:detach-forced', 'Idle timeout: 00:00:02.');
  expect(sender.connection.is_open()).toBe(true);
});
