import type { Route } from './request.ts';

/** How many devices there are, and how many are connected; modules do not count. */
export const statisticsRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/statistics/devices',
    rights: ['registryRead'],
    counts: 'registry',
    handle: ({ hub }) => {
      const devices = hub.registry.list();
      const enabledDeviceCount = devices.filter(({ status }) => status === 'enabled').length;
      const totalDeviceCount = devices.length;
      const disabledDeviceCount = totalDeviceCount - enabledDeviceCount;
      return { status: 200, body: { totalDeviceCount, enabledDeviceCount, disabledDeviceCount } };
    },
  },
  {
    method: 'GET',
    path: '/statistics/service',
    rights: ['serviceConnect', 'registryRead'],
    counts: 'registry',
    handle: ({ hub: { registry, presence } }) => {
      const connectedDeviceCount = registry.list().filter(({ deviceId }) => presence.isConnected(deviceId)).length;
      return { status: 200, body: { connectedDeviceCount } };
    },
  },
];
