import { identityOf, type Route } from './request.ts';

/** The queue of a device, seen by services. */
export const commandRoutes: readonly Route[] = [
  {
    method: 'DELETE',
    path: '/devices/{device}/commands',
    rights: ['serviceConnect'],
    handle: (request) => {
      const { deviceId } = identityOf(request);
      const totalMessagesPurged = request.hub.devicebound.purge(deviceId);
      return { status: 200, body: { totalMessagesPurged, deviceId, moduleId: null } };
    },
  },
];
