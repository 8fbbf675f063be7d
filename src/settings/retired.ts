/** A removed setting. */
export interface Retired {
  /** Its environment variable. */
  readonly variable: string;
  /** Its path in a file of settings. */
  readonly path: string;
  /** What to do now, as a sentence. */
  readonly instead: string;
  /**
   * True when ignoring it would lose stored data or change what the service trusts or where it listens: the start is then
   * refused. Otherwise there is a warning (D24).
   */
  readonly isVital: boolean;
}

const gone = (variable: string, path: string, instead: string): Retired => ({
  variable,
  path,
  instead,
  isVital: false,
});
const vital = (...retired: Parameters<typeof gone>): Retired => ({ ...gone(...retired), isVital: true });

const fixed = 'remove it: its value is fixed';
const cached = 'set BACKENDS_CACHE_SECONDS, which is for types and identities';
const counted = 'remove it: the numbers are fixed, and DEAD_LETTERS_MAX_BYTES limits all dead letters';
const moved = (folder: string) => `set DATA_DIRECTORY, and move what the folder holds into its folder \`${folder}\``;

export const retiredSettings: readonly Retired[] = [
  vital('CHECKPOINTS_DIRECTORY', 'checkpoints.directory', moved('checkpoints')),
  vital('DEAD_LETTERS_DIRECTORY', 'deadLetters.directory', moved('dead-letters')),
  gone(
    'DELIVERY_SPOOL_DIRECTORY',
    'delivery.spoolDirectory',
    'set DATA_DIRECTORY, or mount another place at its folder `spool`',
  ),
  vital(
    'HUB_DEVICE_ID_PROPERTY',
    'hub.deviceIdProperty',
    'remove it: only the hub’s own stamp, `iothub-connection-device-id`, is trusted',
  ),
  gone('HUB_BATCH_SIZE', 'hub.batchSize', fixed),
  gone('HUB_PREFETCH', 'hub.prefetch', fixed),
  gone('HUB_MAX_WAIT_SECONDS', 'hub.maxWaitSeconds', fixed),
  gone('BACKENDS_MAX_ANSWER_BYTES', 'backends.maxAnswerBytes', fixed),
  gone('BACKENDS_CIRCUIT_FAILURES', 'backends.circuitFailures', fixed),
  gone('BACKENDS_TYPE_CACHE_SECONDS', 'backends.typeCacheSeconds', cached),
  gone('BACKENDS_IDENTITY_CACHE_SECONDS', 'backends.identityCacheSeconds', cached),
  gone('MESSAGES_DEFAULT_TIMEOUT_SECONDS', 'messages.defaultTimeoutSeconds', fixed),
  gone('MESSAGES_MAX_TIMEOUT_SECONDS', 'messages.maxTimeoutSeconds', fixed),
  gone('MESSAGES_MAX_INFLATED_BYTES', 'messages.maxInflatedBytes', fixed),
  gone('MESSAGES_MAX_VERSION_GAP', 'messages.maxVersionGap', fixed),
  gone('MESSAGES_MAX_SYNC_MODELS', 'messages.maxSyncModels', fixed),
  gone('MESSAGES_MAX_SYNC_BYTES', 'messages.maxSyncBytes', fixed),
  gone(
    'REPLIES_SEND_TIMEOUT_SECONDS',
    'replies.sendTimeoutSeconds',
    'remove it: it is a sixth of REPLIES_MAX_WAIT_SECONDS, at most 10 s',
  ),
  gone('REPLIES_MAX_IN_FLIGHT', 'replies.maxInFlight', fixed),
  gone('DELIVERY_PARTITION_MESSAGES', 'delivery.partitionMessages', 'remove it: it is half of DELIVERY_MAX_MESSAGES'),
  gone('DELIVERY_PARTITION_BYTES', 'delivery.partitionBytes', 'remove it: it is half of DELIVERY_MAX_BYTES'),
  gone('DELIVERY_DEVICE_MESSAGES', 'delivery.deviceMessages', fixed),
  gone('DELIVERY_SPOOL_MESSAGES', 'delivery.spoolMessages', 'remove it: DELIVERY_SPOOL_BYTES bounds the spool'),
  gone('SCALING_ROUND_SECONDS', 'scaling.roundSeconds', 'remove it: it is a sixth of SCALING_EXPIRY_SECONDS'),
  gone(
    'CHECKPOINTS_EVERY_MESSAGES',
    'checkpoints.everyMessages',
    'remove it: its value is fixed; CHECKPOINTS_EVERY_SECONDS also causes checkpoints',
  ),
  gone('DEAD_LETTERS_OF_A_DEVICE', 'deadLetters.deviceLetters', counted),
  gone('DEAD_LETTERS_MAX', 'deadLetters.maxLetters', counted),
  vital('METHODS_HOST', 'methods.host', 'set HTTP_HOST: invocations and health requests are taken on the same address'),
  gone('METHODS_IN_FLIGHT', 'methods.inFlight', fixed),
];

/** One sentence for each vital removed setting that is set. */
export const vitalRetired = (env: NodeJS.ProcessEnv): string[] =>
  retiredSettings
    .filter(({ variable, isVital }) => isVital && env[variable])
    .map(({ variable, instead }) => `${variable} is no setting any more: ${instead}`);
