import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

/** In what the service says about itself. */
export const stateFaults: readonly Fault[] = [
  ...inFile(
    'src/hub/reading/newestEvents.ts',
    ['test/hub/newestEvents.test.ts'],
    {
      fault: 'asks the hub for its newest event at each read',
      find: '>= everyMs);',
      replace: '>= 0);',
      caughtBy: 'is asked for every ten seconds',
    },
    {
      fault: 'asks the hub again while it has not answered',
      find: '!isOpen && (hasFailed',
      replace: '(hasFailed',
      caughtBy: 'is not asked for twice while the hub may still answer',
    },
  ),
  ...inFile('src/hub/reading/newestEvents.ts', ['test/hub/newestEvents.test.ts'], {
    fault: 'takes a refusal for silence of the hub',
    find: 'error instanceof TooLate ? (one.silentSince ?? one.at) : undefined',
    replace: 'one.silentSince ?? one.at',
    caughtBy: 'is unknown while questions fail: the hub is silent since the first one without an answer',
  }),
  ...inFile('src/hub/reading/consumer.ts', ['test/hub/silentHub.test.ts'], {
    fault: 'is ready while the hub answers no question, as the client reports an open link',
    find: 'return deafMs <= silentMs && eventlessMs <= (watch.newest.silentMs(partition) ?? Number.POSITIVE_INFINITY);',
    replace: 'return deafMs <= silentMs && eventlessMs >= 0;',
    caughtBy: 'a hub that becomes silent on open connections is reported, and so is the end of the silence',
  }),
  ...inFile(
    'src/hub/reading/behind.ts',
    ['test/hub/behind.test.ts'],
    {
      fault: 'is not behind when all is read, whatever waits',
      find: 'if (undoneSince !== undefined)',
      replace: 'if (undoneSince !== undefined && (answer?.newest ?? 0) > position)',
      caughtBy: 'by the age of its oldest unfinished event, even if all events are read',
    },
    {
      fault: 'is not behind while more is there of which nothing is known',
      find: 'answer.newest <= position ? 0 : null',
      replace: 'answer.newest <= position ? 0 : 0',
      caughtBy: 'by an unknown time while all read events are done and there are unread ones',
    },
    {
      fault: 'goes on saying how far behind it is while the hub does not answer',
      find: '  if (!isAnswering) return { ...known, behindSeconds: null };\n',
      replace: '',
      caughtBy: 'while the hub does not answer',
    },
  ),
  ...inFile('src/hub/reading/unowned.ts', ['test/hub/behind.test.ts'], {
    fault: 'keeps the first event of an earlier checkpoint',
    find: '|| one.first?.after === position) return',
    replace: '|| one.first !== undefined) return',
    caughtBy: 'has a new first event after the next checkpoint',
  }),
  ...inFile('src/hub/reading/firstEvent.ts', ['test/hub/firstEvent.test.ts'], {
    fault: 'takes the last event that is done for the first one that is not',
    find: '{ offset: after, isInclusive: false }',
    replace: '{ offset: after, isInclusive: true }',
    caughtBy: 'the time is that of the event after the done ones: after number',
  }),
  ...inFile('src/hub/reading/share.ts', ['test/hub/share.test.ts'], {
    fault: 'takes a partition whose owner has expired for one that is read',
    find: 'owner !== me && unrenewedMs < expiryMs',
    replace: 'owner !== me',
    caughtBy: 'whose owner has not renewed for an expiry',
  }),
  ...inFile(
    'src/backends/backends.ts',
    ['test/backends/states.test.ts'],
    {
      fault: 'shows the cache of identities as that of types',
      find: 'cacheEntries: types.entries()',
      replace: 'cacheEntries: identities.entries()',
      caughtBy: 'operators see the state of each backend separately',
    },
    {
      fault: 'shows the connections of another backend',
      find: '...backends.principalManager.state()',
      replace: '...backends.informationModel.state()',
      caughtBy: 'operators see the state of each backend separately',
    },
  ),
  ...inFile('src/backends/bulkhead.ts', ['test/backends/states.test.ts'], {
    fault: 'shows what waits for a connection as connections in use',
    find: 'inUse: all.inUse(), waiting: all.waiting()',
    replace: 'inUse: all.waiting(), waiting: all.inUse()',
    caughtBy: 'operators see the state of each backend separately',
  }),
  ...inFile('src/operations/shownWork.ts', ['test/operations/serviceRoutes.test.ts'], {
    fault: 'shows when a message was read as when its handling began',
    find: 'begun: ageOf(begunAt)',
    replace: 'begun: ageOf(readAt)',
    caughtBy: '/devices has the reason of each wait, the oldest message first, and the devices that do not fetch',
  }),
];
