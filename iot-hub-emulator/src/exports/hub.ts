/** `iot-hub-emulator`: a hub, its rules, and the faults that it takes. */

export { portTaken } from '../command/portTaken.ts';
export type { HubRules } from '../core/core.ts';
export type { Counters } from '../core/counters.ts';
export { tierRules } from '../core/tierRules.ts';
export {
  type FaultOf,
  type FaultRequest,
  type ImmediateFault,
  immediateFaults,
  type StandingFault,
  standingFaults,
} from '../faults/schema.ts';
export { type Hub, type HubOptions, startHub } from '../hub.ts';
export type { Authentication } from '../identity/authentication.ts';
export type { CaCertificate, CaCertificates } from '../identity/caCertificates.ts';
export { developmentHub } from '../identity/developmentHub.ts';
export type { HubPorts } from '../network/hubPorts.ts';
export { type Way, ways } from '../otherwise/ways.ts';
