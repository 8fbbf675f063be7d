import type { Way } from 'iot-hub-emulator';

/** What the service makes of a hub that is otherwise than believed (D428). */
export interface Expected {
  /** Whether the messages, or the invocations, get their answers. */
  readonly works: boolean;
  /** What it logs as a warning or an error; nothing unless given. */
  readonly events?: readonly string[];
  /** In a sentence, for operators. */
  readonly says: string;
}

const works = (says = 'no difference'): Expected => ({ works: true, says });

export const expected: Readonly<Record<Way, Expected>> = {
  'events.hub-time': works(),
  'events.no-partition-key': works(),
  'events.sequence': { works: true, events: ['partition.gap'], says: 'each event counts as a gap, with a warning' },
  'events.offset': works(),
  'events.ids': works(),
  'events.routed-stamps': {
    works: false,
    events: ['message.unattributed'],
    says: 'every message is skipped with a warning: its sender is not known (R1)',
  },
  'reading.beyond-end': works('a checkpoint beyond the end is recognised by its number, before it is used (D22)'),
  'reading.before-oldest': works('while it reads, nothing starts before the oldest event'),
  'reading.lower-level': works(),
  'reading.equal-level': works('each claim has a higher level than the one before'),
  'reading.no-level': works(),
  'reading.five': works(),
  'reading.no-such-partition': works('only the hint in the log would be another'),
  'reading.last-offset': works('only `HUB_START_POSITION=latest` waits, with a warning'),
  'reading.stale-info': {
    works: true,
    events: ['hub.unreadable'],
    says: 'with a warning: after a restart a partition waits until the hub knows of its checkpoint (D22)',
  },
  ...{ 'reading.settled': works(), 'reading.words': works(), 'reading.idle': works('links are attached anew') },
  'c2d.characters': {
    works: false,
    events: ['handled'],
    says: 'replies with a time or a path are refused and dropped; the line of the message says so (C2)',
  },
  'c2d.ids': works('devices compare ids without regard to capitals'),
  'c2d.prefix': works(),
  'c2d.quick': works('the service takes it for the rate of the hub, and sends more slowly (D35)'),
  'c2d.quota': works('such a refusal counts as a full queue of the device: sent again'),
  'c2d.size': works('a reply near the limit is dropped (C3)'),
  'c2d.expiry': works(),
  'c2d.rate': { works: true, events: ['replies.throttled'], says: 'sent again more slowly, with a warning' },
  ...{ 'c2d.words': works(), 'methods.error-form': works('the status tells enough'), 'methods.payload': works() },
  'methods.codes': works('the status tells enough'),
};
