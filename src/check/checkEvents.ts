import { type Finding, failure, ok, outage, warning } from 'telemetry/check/finding.ts';
import { diagnoseLookUp, ofLookedUp } from '../hub/endpoint/endpointDiagnosis.ts';
import { findEndpoint, settingsAt } from '../hub/endpoint/lookUp.ts';
import { type PartitionExtent, readHubExtent } from '../hub/reading/hubExtent.ts';
import { diagnosisOf } from '../hub/reading/hubFailure.ts';
import { ofIdentity, type ReadingDiagnosis } from '../hub/reading/readingDiagnosis.ts';
import type { StoreSettings } from '../hub/stores/openStore.ts';
import { storedPositions } from '../hub/stores/storedPositions.ts';
import { accessOf, type EventsAccess } from '../identity/access.ts';
import { isSecret } from '../identity/rotatingSecret.ts';
import { isLookedUp } from '../settings/derived.ts';
import { hubLoginOf, hubNameOf } from '../settings/hubLogin.ts';
import { isLasting } from '../text/absence.ts';

const what = 'event endpoint';
const answerMs = 15_000;

type EventSettings = StoreSettings;

/**
 * Credentials, partitions, what the hub keeps, and how far the checkpoints are behind. The consumer group shows only when it
 * is read, which no check may do.
 */
export async function checkEvents(settings: EventSettings): Promise<Finding[]> {
  const { hub } = settings;
  if (!isLookedUp(hub)) return checkEndpoint(settings, accessOf(settings).events());
  try {
    const found = await findEndpoint(hub.serviceConnectionString, answerMs);
    const told = ofLookedUp(hubNameOf(hubLoginOf(hub.serviceConnectionString)), hub.consumerGroup);
    const at = settingsAt(settings, found);
    const where = `${found.namespace}/${found.eventHub}, named by the hub: `;
    return checkEndpoint(at, at.hub.eventsConnectionString, told, where);
  } catch (error) {
    const { cause, isAnswer, hubSaid, setting, todo } = diagnoseLookUp(error);
    const found = `the hub does not name its event endpoint: ${hubSaid} (${setting})`;
    return [isAnswer || isLasting(cause) ? failure(what, found, todo) : outage(what, found, todo)];
  }
}

/** @param where told before what is found there */
async function checkEndpoint(
  settings: EventSettings,
  access: EventsAccess,
  told: (found: ReadingDiagnosis) => ReadingDiagnosis = isSecret(access) ? (found) => found : ofIdentity,
  where = '',
): Promise<Finding[]> {
  const { consumerGroup } = settings.hub;
  let extents: readonly PartitionExtent[];
  try {
    extents = await readHubExtent(access, consumerGroup, answerMs);
  } catch (error) {
    const diagnosis = diagnosisOf(error);
    if (diagnosis === undefined) throw error;
    const { cause, setting, hubSaid, todo, isAnswer } = told(diagnosis);
    const found = where + (setting === undefined ? hubSaid : `${hubSaid} (${setting})`);
    return [isAnswer || isLasting(cause) ? failure(what, found, todo) : outage(what, found, todo)];
  }
  const kept = extents.filter(({ isEmpty }) => !isEmpty);
  const events = kept.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  const newest = Math.max(...kept.map(({ lastAt }) => lastAt.getTime()));
  const age = kept.length === 0 ? '' : `, the newest ${ageOf(Date.now() - newest)} old`;
  const found = `${where}${extents.length} partitions with ${events} events${age}; whether it has the consumer group ${consumerGroup} shows when the service reads`;
  return [ok(what, found), await lagOf(settings, extents)];
}

const lag = 'checkpoints';

async function lagOf(settings: EventSettings, extents: readonly PartitionExtent[]): Promise<Finding> {
  const positions = await storedPositions(settings).catch((error: Error) => error);
  return positions instanceof Error
    ? outage(lag, `cannot be read: ${positions.message}`, 'the check of the store says more')
    : lagFindingOf(extents, positions, settings.hub);
}

/** @param positions the sequence numbers of the checkpoints, by partition */
export function lagFindingOf(
  extents: readonly PartitionExtent[],
  positions: ReadonlyMap<string, number>,
  { startPosition }: Pick<EventSettings['hub'], 'startPosition'>,
): Finding {
  const known = extents.filter(({ partition }) => positions.has(partition));
  if (known.length === 0) {
    const begins = startPosition === 'latest' ? 'with what comes from now on' : 'with the oldest event';
    return ok(lag, `none yet: the service begins ${begins} (HUB_START_POSITION=${startPosition})`);
  }
  const at = ({ partition }: PartitionExtent) => positions.get(partition) ?? -1;
  const foreign = known.filter((extent) => at(extent) > extent.last);
  if (foreign.length > 0) {
    const found = `beyond the end of partition ${partitionsOf(foreign)}`;
    return warning(
      lag,
      found,
      'check again in some minutes: if it stays, they are of another hub (docs/troubleshooting.md)',
    );
  }
  const lost = known.filter((extent) => !extent.isEmpty && extent.first > at(extent) + 1);
  if (lost.length > 0) {
    const count = lost.reduce((sum, extent) => sum + extent.first - at(extent) - 1, 0);
    return warning(
      lag,
      `the hub has deleted ${count} events that were not handled, of partition ${partitionsOf(lost)}`,
      'they are lost: keep events longer at the hub, and mind the alert Behind',
    );
  }
  const behind = known.reduce((sum, extent) => sum + Math.max(0, extent.last - at(extent)), 0);
  const without = extents.length - known.length;
  const rest = without === 0 ? '' : `, ${without} partitions have none`;
  return ok(lag, `${behind} events behind the end of ${known.length} partitions${rest}`);
}

const partitionsOf = (extents: readonly PartitionExtent[]) => extents.map(({ partition }) => partition).join(', ');

/** For people. */
function ageOf(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const units = [
    [86_400, 'd'],
    [3_600, 'h'],
    [60, 'min'],
  ] as const;
  const [size, unit] = units.find(([size]) => seconds >= 2 * size) ?? [1, 's'];
  return `${Math.floor(seconds / size)} ${unit}`;
}
