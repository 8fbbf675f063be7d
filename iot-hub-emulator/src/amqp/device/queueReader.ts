import { toAmqp } from '../link/encode.ts';
import { lend } from '../link/lending.ts';
import { notFound } from '../link/peer.ts';
import type { Endpoint } from './endpoint.ts';

/** Cloud-to-device messages. A module has none. */
export const deviceboundEndpoint: Endpoint = {
  serve(sender, { hub, link, session }) {
    const { deviceId, moduleId } = session.login.identity;
    if (moduleId !== undefined) throw notFound(sender.source.address);
    const { take, hasRoom } = lend(sender, toAmqp, () => hub.devicebound.flush(deviceId));
    link.whenOver(hub.devicebound.listen(deviceId, take, hasRoom));
  },
};
