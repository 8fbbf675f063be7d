/** `iot-hub-emulator/facts`: what is believed of a hub, and how a hub is asked whether it holds. */
export { areas, facts } from './catalogue.ts';
export { hubFacts, targetOf } from './command/command.ts';
export type { Reliances } from './command/report.ts';
export { probeAll } from './command/run.ts';
export type { Fact, Source } from './fact.ts';
