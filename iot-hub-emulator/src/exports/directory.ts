/** `iot-hub-emulator/directory`: how the hub makes its folders, for programs that run beside it. */
export { makeDirectory } from '../values/makeDirectory.ts';
