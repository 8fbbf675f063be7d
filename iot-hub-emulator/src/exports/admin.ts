/** `iot-hub-emulator/admin`: the operations of the admin port, from which its contract is made. */
export { type Operation, operations } from '../admin/operations.ts';
export * as schemas from '../admin/schemas.ts';
