import { startHub } from 'iot-hub-emulator';
import { createJournal } from 'iot-hub-emulator/journal';
import mqtt from 'mqtt';
import { startBroker } from '../../../sandbox/edge/broker.ts';
import { answerCalls, startFastBackends } from './invoking.ts';
import type { StageDescription } from './methodsStage.ts';

/**
 * What is around a front door and an edge proxy, in a process of its own: hub, backends that answer as fast as they can,
 * broker, a module that answers, and callers. argv: directory.
 */

export interface EdgeStageDescription extends StageDescription {
  readonly deviceConnectionString: string;
  readonly brokerUrl: string;
}

const objectId = '00000000-0000-4000-8000-000000000001';
const [directory = ''] = process.argv.slice(2);
const hub = await startHub({ directory, journal: createJournal({ bytes: 65_536 }), devices: [{ deviceId: 'edge-1' }] });
const broker = await startBroker({
  users: {
    proxy: { password: 'bench', publish: ['press/in/#'], subscribe: ['press/out/#'] },
    press: { password: 'bench', publish: ['press/out/#'], subscribe: ['press/in/#'] },
  },
});

answerCalls(() => objectId);
const module = await mqtt.connectAsync(broker.url, { username: 'press', password: 'bench' });
module.on('message', (topic) => void module.publish(`press/out/0/${topic.split('/').at(-1)}`, '{"rpm":1450}'));
await module.subscribeAsync('press/in/#');

const backendsPort = await startFastBackends(() => 'edge-1/press');

const description: EdgeStageDescription = {
  caFile: hub.caFile,
  serviceConnectionString: hub.serviceConnectionString,
  ...{ deviceConnectionString: hub.deviceConnectionString('edge-1'), backendsPort, brokerUrl: broker.url },
};
process.send?.(description);
