/** `iot-hub-emulator/testing`: a hub for one test, events in its partitions, and what its clients sign and its events look like. */
export { encodeDeviceEvent, positionAnnotations } from '../events/deviceEvent.ts';
export { stableHash } from '../events/events.ts';
export type { PartitionLog } from '../events/partitionLog.ts';
export { ensureCertificates } from '../identity/certificates.ts';
export { type Issued, issueCertificate } from '../identity/issueCertificate.ts';
export { signSas } from '../identity/sas.ts';
export { freshHub } from '../testing/freshHub.ts';
export { inject } from '../testing/inject.ts';
export type { EventPosition } from '../values/loggedEvent.ts';
