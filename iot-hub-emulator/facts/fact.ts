import type { Lab } from './lab/lab.ts';

/** What backs a fact. */
export interface Source {
  /**
   * `page`: an official page; `client`: the source of an official client; `thread`: an exchange with a real hub that was
   * published; `inference`: it follows from one of these, or nothing contradicts it.
   */
  readonly kind: 'page' | 'client' | 'thread' | 'inference';
  /** In Markdown. */
  readonly what: string;
}

/** Something that the service or the emulator believes of the hub (H23). */
export interface Fact {
  /** `area.name`: code that relies on it cites it. */
  readonly id: string;
  /** In Markdown. */
  readonly says: string;
  readonly sources: readonly Source[];
  /** How it is checked, or why it is not. */
  readonly check: Probe | string;
  /** Why the emulator has no other way for a fact without a page or client behind it. */
  readonly noOtherWay?: string;
}

/** A check of a fact, with unmodified official clients only. */
export interface Probe {
  /** What the tier of the hub must have; `storage`: a storage account was given. */
  readonly needs?: readonly Need[];
  /** Messages that it sends, in both directions, in units of 4 KB as the daily quota counts. */
  readonly messages?: number;
  /** What sends them, for all probes that have the same. */
  readonly shares?: unknown;
  /** Whom it takes something from: readers of the consumer group their partitions, or services their feedback for a while. */
  readonly disturbs?: Disturbed;
  /** Rejects with `Differs` when the hub behaves otherwise, and with `NotTried` when this hub does not let it be seen. */
  readonly run: (lab: Lab) => Promise<void>;
}

export type Disturbed = 'readers' | 'feedback';
export type Need = 'toDevices' | 'methods' | 'storage';

const learn = 'https://learn.microsoft.com/azure';

/** A page of Azure's documentation, by its address there. */
export const page = (path: string): Source => ({
  kind: 'page',
  what: `[${path.replace(/^.*\//, '')}](${learn}/${path})`,
});

/** A file of a client's package. */
export const client = (what: string): Source => ({ kind: 'client', what });

/** An issue or pull request at GitHub: `owner/name#1`. */
export const thread = (issue: string, more = ''): Source => {
  const [repository, number] = issue.split('#');
  const where =
    number === undefined
      ? `[${issue}](https://github.com/${issue})`
      : `[${issue}](https://github.com/${repository}/issues/${number})`;
  return { kind: 'thread', what: more === '' ? where : `${where}: ${more}` };
};

export const inference = (what: string): Source => ({ kind: 'inference', what });

/** Pages that several facts name. */
export const pages = {
  messages: page('iot-hub/iot-hub-devguide-messages-construct'),
  toDevices: page('iot-hub/iot-hub-devguide-messages-c2d'),
  quotas: page('iot-hub/iot-hub-devguide-quotas-throttling'),
  methods: page('iot-hub/iot-hub-devguide-direct-methods'),
  errors: page('iot-hub/troubleshoot-error-codes'),
  builtIn: page('iot-hub/iot-hub-devguide-messages-read-builtin'),
  mqtt: page('iot/iot-mqtt-connect-to-iot-hub'),
  identity: page('iot-hub/authenticate-authorize-azure-ad'),
  signatures: page('iot-hub/authenticate-authorize-sas'),
  notifications: page('iot-hub/iot-hub-non-telemetry-event-schema'),
  amqp: page('event-hubs/event-hubs-amqp-troubleshoot'),
  eventHubs: page('event-hubs/event-hubs-quotas'),
  reliability: page('reliability/reliability-iot-hub'),
  twins: page('iot-hub/iot-hub-devguide-device-twins'),
  plugAndPlay: page('iot/concepts-convention'),
} as const;
