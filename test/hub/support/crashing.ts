import { join } from 'node:path';
import type { AxiosAdapter } from 'axios';
import { afterAll, beforeAll } from 'vitest';
import { folderForAll } from '../../../iot-hub-emulator/test/support/fixtures.ts';
import { type Backends as Sandbox, startBackends } from '../../../sandbox/backends/backends.ts';
import { createTransport } from '../../../src/backends/transport.ts';
import { createBudget } from '../../../src/engine/budget.ts';
import { createPartition } from '../../../src/engine/partition.ts';
import { type Checkpoint, knownRedeliveryHorizon } from '../../../src/engine/progressTracker.ts';
import { createBacklog } from '../../../src/engine/rooms.ts';
import type { StoredLetter } from '../../../src/operations/deadLetterCommands.ts';
import type { HubEvent } from '../../../src/protocol/event.ts';
import type { Reply } from '../../../src/protocol/reply.ts';
import { backlogLimits } from '../../../src/settings/constants.ts';
import type { DeadLetters } from '../../../src/stores/deadLetterStore.ts';
import { settingsOf } from '../../support/environment.ts';
import { bodyBytes, hubEvent } from '../../support/events.ts';
import { allLetters, lettersInDirectory } from '../../support/letters.ts';
import { crashingAt } from '../../support/processLife.ts';
import { signal } from '../../support/waiting.ts';
import { receivedMessageOf, wire } from '../../support/wiring.ts';
import type { Message } from './messages.ts';

/** What is left of a process when it is gone. */
export interface Remains {
  progress: Checkpoint | undefined;
  readonly replies: Reply[];
  readonly letters: Pick<DeadLetters, 'park' | 'remove'> & { list(): Promise<StoredLetter[]> };
}

/** Replies by their id: a repeat of one is no other reply. */
export const byId = (replies: readonly Reply[]) => new Map(replies.map((reply) => [reply.messageId, reply]));

interface LifeOptions {
  /** The await point, counted from 1, at which the process dies. */
  readonly crashAt?: number;
}

/** The service between a scripted hub and the sandbox's backends, as a process that can die at any await point. */
export function crashingForAll(): Crashing {
  const directory = folderForAll('crashing');
  const crashing = {} as Crashing;
  beforeAll(async () => void Object.assign(crashing, startCrashing(await startBackends({ seed: true }), directory)));
  afterAll(() => crashing.sandbox.close());
  return crashing;
}

function startCrashing(sandbox: Sandbox, directory: string) {
  const { backends: urls } = settingsOf(sandbox);
  const timeouts = { connections: 4, attemptTimeoutMs: 5_000 };

  /** The way to the backends and the token endpoint: which of them, the first word of the path tells. */
  function openNetwork() {
    const [information, types, principals, tokens] = [
      urls.informationModelUrl,
      urls.typeRegistryUrl,
      urls.principalManagerUrl,
      new URL(urls.tokenUrl).origin,
    ].map((url) => createTransport(url, timeouts)) as [Transport, Transport, Transport, Transport];
    const rooms = new Map([
      ['devices', principals],
      ['modelDefinitions', types],
      [new URL(urls.tokenUrl).pathname.split('/')[1], tokens],
    ]);
    const adapter: AxiosAdapter = (config) => (rooms.get(config.url?.split(/[/?]/)[1]) ?? information).adapter(config);
    const close = () => Promise.all([information, types, principals, tokens].map((one) => one.close()));
    return { adapter, close };
  }

  /**
   * One life: handles events until their checkpoint is written, or until it dies.
   * @param redelivery horizon newest event when it began
   * @returns how many await points it came to
   */
  async function live(
    events: readonly HubEvent[],
    redeliveryHorizon: number,
    remains: Remains,
    { crashAt = Number.POSITIVE_INFINITY }: LifeOptions = {},
  ) {
    const life = crashingAt(crashAt);
    const network = openNetwork();
    const adapter: AxiosAdapter = (config) => life.step(() => network.adapter(config));
    const { backends, dispatch } = wire({
      settings: urls,
      adapter,
      deadLetters: {
        park: (letter) => life.step(() => remains.letters.park(letter)),
        remove: (id) => life.step(() => remains.letters.remove(id)),
      },
      send: (reply) =>
        life.step(async () => {
          remains.replies.push(reply);
          return 'delivered' as const;
        }),
    });
    const last = events.at(-1)?.sequenceNumber ?? -1;
    const { given: end, give: finished } = signal();
    const partition = createPartition({
      ...{ backlog: createBacklog(backlogLimits), budget: createBudget({ maxMessages: 10, maxBytes: 1e6 }) },
      ...{ progress: remains.progress, redeliveryHorizon: knownRedeliveryHorizon(redeliveryHorizon) },
      ...{ costOf: bodyBytes, receivedMessageOf, dispatch },
      async checkpoint(progress) {
        await life.step(async () => (remains.progress = progress));
        if (progress.sequenceNumber === last) finished();
        return true;
      },
      onTrouble(error) {
        throw error;
      },
      onRevoked() {},
      limits: { everyMessages: 1, everyMs: 5_000 },
    });
    await Promise.race([partition.admit(events), life.death]);
    const died = await Promise.race([end, life.death]);
    partition.revoke();
    await Promise.all([backends.close(), network.close()]);
    return { points: life.points(), died: died === 'died' };
  }

  let begun = 0;
  return {
    sandbox,
    live,

    /** A fresh world in which `before` has happened; the messages stand behind it in the partition. */
    async begin(messages: readonly Message[], before: readonly Message[]) {
      sandbox.world.reset();
      begun += 1;
      const store = lettersInDirectory(join(directory, `letters-${begun}`));
      const letters = { ...store, list: () => allLetters(store) };
      const remains: Remains = { progress: undefined, replies: [], letters };
      const events = [...before, ...messages].map((one, sequenceNumber) => hubEvent({ ...one, sequenceNumber }));
      if (before.length > 0) await live(events.slice(0, before.length), -1, remains);
      remains.replies.length = 0;
      return { remains, events: events.slice(before.length), newest: events.length - 1 };
    },

    /** Everything the backends know, but for what they remember of requests. */
    world: () =>
      [sandbox.world.types, sandbox.world.principals, sandbox.world.objects]
        .flatMap((part) => part.dump().map((change) => JSON.stringify(change)))
        .sort(),
  };
}

type Transport = ReturnType<typeof createTransport>;
type Crashing = ReturnType<typeof startCrashing>;
