import { z } from 'zod';
import type { DeadLetters } from '../deadLetters/deadLetterStore.ts';
import type { AdminRoute } from './adminServer.ts';
import { chosenLetters, type StoredLetter } from './deadLetters/choice.ts';

const most = 1_000;

const lettersQuery = z.strictObject({
  device: z.string().min(1).max(128).optional(),
  code: z.string().min(1).max(128).optional(),
  limit: z.coerce.number().int().min(1).max(most).default(100),
});

/**
 * `GET /dead-letters`: what is parked, without bodies and properties. However many there are, a request reads a thousand at most:
 * the service has other work. The command looks through all.
 */
export function deadLettersRoute(store: Pick<DeadLetters, 'ids' | 'read'>): AdminRoute {
  return {
    about:
      'dead letters without their bodies, each device’s in order, among the first thousand; ?device=D, ?code=C, ?limit=100',
    async get(query) {
      const { device, code, limit } = lettersQuery.parse(Object.fromEntries(query));
      const deadLetters: object[] = [];
      let unreadable = 0;
      const ids = await store.ids(device);
      const first = { ids: async () => ids.slice(0, most), read: (id: string) => store.read(id) };
      const letters = chosenLetters(first, { device, code, since: undefined }, () => {
        unreadable += 1;
      });
      let isMore = ids.length > most;
      for await (const filed of letters) {
        if (deadLetters.length === limit) {
          isMore = true;
          break;
        }
        deadLetters.push(shownLetter(filed));
      }
      return { deadLetters, isMore, unreadable };
    },
  };
}

function shownLetter({ id, letter }: StoredLetter) {
  const { deviceId, code, details, attempts, parkedAt, origin, event } = letter;
  const message = event.properties?.['action'] ?? event.properties?.['eventType'];
  return {
    ...{ id, device: deviceId, message, code, details, attempts, parkedAt: parkedAt.toISOString() },
    ...{ partition: origin.partition, sequenceNumber: event.sequenceNumber },
  };
}
