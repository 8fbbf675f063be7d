import { roundsInExpiry } from './groups/constants.ts';
import type { Settings } from './schema.ts';

/** Values that follow from settings and constants (D66). */

/** The connection string for what may have a storage account of its own (D292). */
export const connectionOf = (
  own: Settings['checkpoints'],
  store: Pick<Settings['store'], 'connectionString'>,
): string => own.connectionString || store.connectionString;

/**
 * Where it is, for operators.
 * @param name the beginning of its own settings
 */
export const placeOf = (
  own: Pick<Settings['checkpoints'], 'connectionString'>,
  { kind }: Pick<Settings['store'], 'kind'>,
  name: 'CHECKPOINTS' | 'DEAD_LETTERS' | 'METHODS_FILES',
): { readonly setting: string; readonly containerSetting?: string } =>
  kind === 'file'
    ? { setting: 'DATA_DIRECTORY' }
    : {
        setting: own.connectionString === '' ? 'STORE_CONNECTION_STRING' : `${name}_CONNECTION_STRING`,
        containerSetting: `${name}_CONTAINER`,
      };

interface MessageLimits {
  readonly maxMessages: number;
  readonly maxBytes: number;
}

/** Limits of one partition: half, so that the others always have room. */
export const partitionShare = ({ maxMessages, maxBytes }: MessageLimits): MessageLimits => ({
  maxMessages: Math.ceil(maxMessages / 2),
  maxBytes: Math.floor(maxBytes / 2),
});

/** Interval in which an instance renews its ownership and reads that of the others. */
export const roundMs = (expirySeconds: number): number => (expirySeconds * 1000) / roundsInExpiry;

/** Time for the hub to settle one reply, before it is sent again. */
export const settleWithinMs = (maxWaitSeconds: number): number =>
  Math.min(10_000, Math.max(1_000, (maxWaitSeconds * 1000) / 6));

/** A process that has not run for this time may have lost its partitions: its last renewal may be some rounds old (D179). */
export const standstillMs = (expirySeconds: number): number => (expirySeconds * 1000) / 2;

/** Where health is served, with the names of the settings that say so. */
export const healthAddress = ({ host, port }: Settings['http']) => ({
  ...{ host, port },
  settings: { host: 'HTTP_HOST', port: 'HTTP_PORT' },
});
