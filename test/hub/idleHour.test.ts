import { beforeEach, expect, it, vi } from 'vitest';
import { hubForEach } from '../../iot-hub-emulator/test/support/sharedHub.ts';
import { createConsumer } from '../../src/hub/reading/consumer.ts';
import { createReplies } from '../../src/hub/replies/replies.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { createLog, createTroubles } from '../../src/observing/log.ts';
import { createMemoryStore } from '../../src/stores/fileCheckpoints.ts';
import { append, plainService } from '../traps/support/plain.ts';
import { usualOpened, usualReading } from './support/reading.ts';
import { replyTo } from './support/replying.ts';

// An hour in which nobody says anything: the official clients against the sandbox's hub, both with the clock of this test. The
// hub ends links and connections that nobody uses after its usual times.

cureHubSdks();

/** What the process has written, by the log or past it. */
let written: string[];

const hub = hubForEach({ devices: [{ deviceId: 'pump-1' }], partitions: 2 });
beforeEach(() => {
  written = [];
  const write = (text: unknown) => written.push(String(text)) > 0;
  for (const stream of [process.stdout, process.stderr]) vi.spyOn(stream, 'write').mockImplementation(write);
  for (const level of ['log', 'info', 'warn', 'error', 'trace'] as const)
    vi.spyOn(console, level).mockImplementation((...told) => void write(told.join(' ')));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'] });
});

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
/** Something on its way that takes the time of the machine, such as the look-up of a name. */
const isUnderWay = () => process.getActiveResourcesInfo().some((name) => /Req|ConnectWrap/.test(name));

/** Lets the clock go on by a second, and both sides say what they have to say then. */
async function passSecond() {
  await vi.advanceTimersByTimeAsync(1_000);
  for (let turns = 0; turns < 25 || isUnderWay(); turns += 1) await turn();
}

async function passUntil(isSo: () => boolean) {
  while (!isSo()) await passSecond();
}

/** A service that answers each message with the same text. */
function start() {
  const log = createLog('info', { write: (line) => void written.push(line) });
  const troubles = createTroubles(log);
  let clients = 0;
  const newClient = () => {
    clients += 1;
    return plainService(hub);
  };
  const replies = createReplies({ sendsPerMinute: 0, maxWaitSeconds: 60, newClient, log, troubles });
  const consumer = createConsumer({
    ...usualReading,
    ...{ access: hub.eventsConnectionString, drainMs: 2_000, roundMs: 5_000 },
    ...{ balance: { expiryMs: 30_000, forceMs: 60_000 }, store: createMemoryStore(), log },
    partition: () => ({
      ...usualOpened(),
      async dispatch({ event }) {
        return (await replies.sender.send(replyTo('pump-1', String(event.body)))) === 'delivered';
      },
    }),
  });
  consumer.start();
  void replies.connection.open();
  return {
    isReady: () => [...consumer.missing(), ...replies.missing()].length === 0,
    clients: () => clients,
    async stop() {
      await Promise.all([consumer.stop(), replies.close()]);
      troubles.close();
    },
  };
}

const waiting = () => hub.devicebound.pending('pump-1').length;

it.each([
  ['that has sent a reply before, whose link the hub ends', 1, 20],
  ['that has never sent one', 0, 50],
])('an idle service %s writes nothing in an hour of closed connections', async (_, before, closings) => {
  const service = start();
  await passUntil(service.isReady);
  for (let message = 0; message < before; message += 1) append(hub, 'before');
  await passUntil(() => waiting() === before);
  const [{ length: lines }, clients] = [written, service.clients()];

  for (let second = 0; second < 3_600; second += 1) await passSecond();

  expect(service.clients() - clients).toBeGreaterThan(closings);
  append(hub, 'after');
  await passUntil(() => waiting() === before + 1);
  expect(written.slice(lines)).toEqual([]);
  const stopping = service.stop();
  for (let isStopped = false; !isStopped; ) {
    void stopping.then(() => (isStopped = true));
    await passSecond();
  }
});
