import { createRouter } from 'iot-hub-emulator/http';
import { informationModelRoutes } from '../../sandbox/backends/informationModel/informationModelRoutes.ts';
import { principalManagerRoutes } from '../../sandbox/backends/principalManager/principalManagerRoutes.ts';
import { typeRegistryRoutes } from '../../sandbox/backends/typeRegistry/typeRegistryRoutes.ts';
import { openWorld } from '../../sandbox/backends/world/world.ts';
import type { BackendName } from '../../src/backends/backends.ts';

const world = openWorld(undefined, false);
const routers = {
  informationModel: createRouter(informationModelRoutes(world)),
  typeRegistry: createRouter(typeRegistryRoutes(world)),
  principalManager: createRouter(principalManagerRoutes(world)),
};

/** Says which route the sandbox's backend lacks for this call; empty when it has one. */
export function missingRoute(backend: BackendName, method: string, path: string): string[] {
  const [pathname = ''] = path.split('?', 1);
  if (routers[backend](method, pathname).route) return [];
  return [`sandbox/backends/${backend}/routes.ts has no route for ${method} ${pathname}: the stories cannot run`];
}
