import { accessFacts } from './areas/access.ts';
import { certificateFacts, queryFacts } from './areas/certificates.ts';
import { detailFacts } from './areas/details.ts';
import { eventFacts } from './areas/events.ts';
import { methodFacts } from './areas/methods.ts';
import { readingFacts } from './areas/reading.ts';
import { storageFacts } from './areas/storage.ts';
import { toDeviceFacts } from './areas/toDevices.ts';
import type { Fact } from './fact.ts';

export interface Area {
  readonly title: string;
  readonly facts: readonly Fact[];
}

/** All that is believed of a hub, in the order in which it is probed. */
export const areas: readonly Area[] = [
  { title: 'Events', facts: eventFacts },
  { title: 'Reading events', facts: readingFacts },
  { title: 'Messages to devices', facts: toDeviceFacts },
  { title: 'Direct methods', facts: methodFacts },
  { title: 'Access, registry, devices', facts: accessFacts },
  { title: 'Storage', facts: storageFacts },
  { title: 'Certificates of devices', facts: certificateFacts },
  { title: 'Queries', facts: queryFacts },
  { title: 'Details', facts: detailFacts },
];

export const facts: readonly Fact[] = areas.flatMap((area) => area.facts);
