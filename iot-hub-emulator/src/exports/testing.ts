/** `iot-hub-emulator/testing`: events in the partitions of a hub, and what its clients sign and its events look like. */
export { encodeDeviceEvent, positionAnnotations } from '../events/deviceEvent.ts';
export { stableHash } from '../events/events.ts';
export type { PartitionLog } from '../events/partitionLog.ts';
export { ensureCertificates } from '../identity/certificates.ts';
export { type Issued, issueCertificate } from '../identity/issueCertificate.ts';
export { signSas } from '../identity/sas.ts';
export { inject } from '../testing/inject.ts';
export type { EventPosition } from '../values/loggedEvent.ts';
