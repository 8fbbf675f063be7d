/**
 * Ways in which a hub could behave other than this one does, where only a published exchange or an inference says how it does (H24):
 * by the id of the fact, what is different then.
 */
export const ways = {
  'events.hub-time': 'events have no `iothub-enqueuedtime`',
  'events.no-partition-key': 'events have the device’s id as `x-opt-partition-key`',
  'events.sequence': 'sequence numbers rise by two',
  'events.offset': 'offsets are texts such as `1@4096`',
  'events.ids': 'ids in the form of a UUID arrive as UUIDs',
  'events.routed-stamps': 'events have no stamps at all',
  'reading.beyond-end': 'a receiver that starts beyond the last event waits there, without a word',
  'reading.before-oldest': 'a receiver that starts before the oldest event is refused',
  'reading.lower-level': 'a receiver with a lower owner level is refused with `amqp:resource-locked`',
  'reading.equal-level': 'a receiver with an equal owner level is refused',
  'reading.no-level': 'a receiver without an owner level may read beside one that has one',
  'reading.five': 'any number of receivers without an owner level share a partition',
  'reading.no-such-partition': 'a partition that is not there is `amqp:not-found`',
  'reading.last-offset': 'the newest offset is always null',
  'reading.stale-info': 'what is said of a partition is ten seconds old',
  'reading.settled': 'events have to be settled',
  'reading.words': 'refusals of links have other words',
  'reading.idle': 'a sender’s link ends after a second without messages, and a connection a second after its last link',
  'c2d.characters': 'a message with undocumented characters in its properties is refused',
  'c2d.ids': 'ids that travelled as UUIDs arrive in capitals',
  'c2d.prefix': 'properties whose names begin with `iothub-` are dropped',
  'c2d.quick': 'each message is answered after 1.1 s',
  'c2d.quota': 'three messages are refused with `amqp:resource-limit-exceeded`, and no code in the description',
  'c2d.size': 'each message counts 256 bytes more, and each property 16',
  'c2d.expiry': 'a message may expire at any time',
  'c2d.rate': 'messages over the rate are refused at once: here the first five',
  'c2d.words': 'refusals of messages have other words',
  'methods.error-form': 'methods are refused in the form of the registry: `ErrorCode:DeviceNotOnline;…`',
  'methods.payload': 'a payload over 128 KB is refused with 413',
  'methods.codes': 'where the number is a guess, it is the status with three zeros',
} as const;

/** The id of a fact that can be otherwise. */
export type Way = keyof typeof ways;

export type Ways = ReadonlySet<Way>;

export const isWay = (name: string): name is Way => Object.hasOwn(ways, name);
