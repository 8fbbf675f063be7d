import type iothub from 'azure-iothub';
import { afterAll, beforeAll } from 'vitest';
import type { Hub } from '../../src/hub.ts';
import { serviceClient } from './clients.ts';

/** Gives the official service client, open during all tests of a file or group. */
export function serviceForAll(hub: Hub, give: (service: iothub.Client) => void): void {
  let service: iothub.Client;
  beforeAll(async () => {
    service = serviceClient(hub);
    give(service);
    await service.open();
  });
  afterAll(async () => void (await service.close()));
}
