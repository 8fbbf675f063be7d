import { toAmqp } from '../link/encode.ts';
import { notFound } from '../link/peer.ts';
import { deliverUnsettled } from '../link/unsettledLink.ts';
import type { Endpoint } from './endpoint.ts';

/** Cloud-to-device messages. A module has none. */
export const deviceboundEndpoint: Endpoint = {
  serve(sender, { hub, link, session }) {
    const { deviceId, moduleId } = session.login.identity;
    if (moduleId !== undefined) throw notFound(link.address);
    const { receive, hasRoom } = deliverUnsettled(sender, toAmqp, () => hub.devicebound.flush(deviceId));
    link.onEnd(hub.devicebound.listen(deviceId, receive, hasRoom));
  },
};
