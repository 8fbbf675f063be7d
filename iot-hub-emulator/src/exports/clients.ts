/** `iot-hub-emulator/clients`: what the official clients for Node.js need to reach a hub, in the process that they run in. */
export { hubAgent, leadToHub } from '../clients/leadToHub.ts';
export { type Ending, trustHub } from '../clients/trustHub.ts';
