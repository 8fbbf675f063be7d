import { startHub } from 'iot-hub-emulator';
import { createJournal } from 'iot-hub-emulator/journal';
import { answerCalls, startFastBackends } from './invoking.ts';

/**
 * What is around a program that invokes methods, in a process of its own: the sandbox hub with devices that answer,
 * backends that answer as fast as they can, and callers. argv: directory, devices.
 */

export type StageDescription = Readonly<{ caFile: string; serviceConnectionString: string; backendsPort: number }>;

const [directory = '', devices = '0'] = process.argv.slice(2);
const deviceId = (index: number) => `motor-${index % Number(devices)}`;
const objectId = (index: number) => `00000000-0000-4000-8000-${String(index % Number(devices)).padStart(12, '0')}`;

const hub = await startHub({
  directory,
  journal: createJournal({ bytes: 65_536 }),
  devices: Array.from({ length: Number(devices) }, (_, index) => ({ deviceId: deviceId(index) })),
});
answerCalls(objectId);
for (let index = 0; index < Number(devices); index += 1) {
  const id = deviceId(index);
  hub.methods.listen(id, ({ requestId }) => {
    setImmediate(() => hub.methods.answer(id, requestId, 200, '{"status":0,"output":{"rpm":1450}}'));
  });
}

const backendsPort = await startFastBackends((id) => deviceId(Number(id.slice(-12))));

const description: StageDescription = {
  caFile: hub.caFile,
  serviceConnectionString: hub.serviceConnectionString,
  backendsPort,
};
process.send?.(description);
