/** `iot-hub-emulator/admin`: a client of the admin port, and its operations, from which client and contract are made. */
export { type AdminClient, createAdminClient, type JournalGap } from '../admin/adminClient.ts';
export { HubRefused } from '../admin/ask.ts';
export { type Operation, operations } from '../admin/operations.ts';
export * as schemas from '../admin/schemas.ts';
export type { PrintedEntry } from '../journal/read.ts';
